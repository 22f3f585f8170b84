"""Write many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from ..changes import Action, Attribute, Configure, Convert, Drop, Environment, Keyword, Rename

WorkedOut = tuple[tuple[str, ...], str, Callable[[Any], Any], str, str, str]
"""The classes, the old attribute, what reads it, the advice, its source today, and since when."""


def keywords(
    owners: tuple[str, ...],
    actions: Mapping[str, Action],
    *,
    gone: str,
    since: str = "",
    source: str = "",
) -> Iterator[Keyword]:
    """Return a row for each keyword of some classes that went with one release.

    Args:
        owners: the classes.
        actions: the old keyword to what becomes of it.
        gone: the first release without them.
        since: the first release with the new spelling.
        source: where that is written, if not in the notes on that release.
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


def renamed(owners: tuple[str, ...], name: str, to: str, gone: str) -> Attribute:
    """Return the row for an attribute that has another name today."""
    return Attribute(
        owners=owners,
        name=name,
        read=attrgetter(to),
        advice=f"write {to}",
        written=f"{{object}}.{to}",
        gone=gone,
    )


def worked_out(attributes: Iterable[WorkedOut]) -> Iterator[Attribute]:
    """Return a row for each attribute that is worked out of others."""
    for owners, name, read, advice, written, gone in attributes:
        yield Attribute(
            owners=owners, name=name, read=read, advice=advice, written=written, gone=gone
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
