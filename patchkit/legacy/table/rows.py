"""Write many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..changes import Action, Configure, Convert, Drop, Environment, Keyword, Rename


def keywords(
    owners: tuple[str, ...],
    actions: Mapping[str, Action],
    *,
    gone: str,
    source: str,
    since: str = "",
) -> Iterator[Keyword]:
    """Return a row for each keyword of some classes that went with one release.

    Args:
        owners: the classes.
        actions: the old keyword to what becomes of it.
        gone: the first release without them.
        source: where that is written.
        since: the first release with the new spelling.
    """
    for name, action in actions.items():
        new = isinstance(action, (Rename, Configure, Convert, Environment))
        yield Keyword(
            owners=owners,
            name=name,
            action=action,
            gone=gone,
            since=since if new else "",
            source=source,
        )


def only_none(instead: str) -> Drop:
    """Return the action for a keyword that is refused unless it is None."""
    return Drop("nothing was given", unless=is_given, instead=instead)


def only_false(because: str, instead: str) -> Drop:
    """Return the action for a switch that is refused if it is on."""
    return Drop(because, unless=bool, instead=instead)


def is_given(value: Any) -> bool:
    return value is not None


def always(value: Any) -> Callable[[Any], Any]:
    """Return what reads an attribute that had the same value for all."""
    return lambda instance: value
