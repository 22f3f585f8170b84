"""The names in `only` and `exclude`."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UsageError

Selection = str | Iterable[str] | None


def names_of(selection: str | Iterable[str], argument: str) -> tuple[str, ...]:
    """Return the ids and globs of a selection; `argument` names it in messages.

    Raises:
        UsageError: it is not made of strings.
    """
    if isinstance(selection, str):
        return (selection,)
    try:
        names = tuple(selection)
    except TypeError:
        raise UsageError(
            f"{argument} takes a patch id, a glob such as 'trl-*', or several of them, "
            f"not {selection!r}"
        ) from None
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"{argument} takes patch ids and globs, not {name!r}")
    return names
