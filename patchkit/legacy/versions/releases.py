"""Releases that the table reaches, withdrawn ones too; later ones may follow.

They are those of `history.json`, which `python -m workbench releases --history` makes from released
wheels. `patchkit.modernize.history` says what else it has.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..wording import release

if TYPE_CHECKING:
    from packaging.version import Version

FILE = Path(__file__).with_name("history.json")
_EXAMPLE = "write them as 'trl==0.11.4, transformers==4.44.2'"


@cache
def history() -> Mapping[str, Mapping[str, Any]]:
    """Return what the releases of each library have, as the file has it."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return {library: known for library, known in content.items() if library != "schema"}


@cache
def releases() -> Mapping[str, tuple[str, ...]]:
    """Return the releases by library, the oldest first."""
    return {library: tuple(known["releases"].split()) for library, known in history().items()}


def first_unlike(owner: str, parameters: Collection[str]) -> str:
    """Return the first release whose constructor has other parameters than a copy.

    Args:
        owner: the public name of a class.
        parameters: those of the copy, which may have more.

    Returns:
        nothing if the newest release has no others, or no release has only these.
    """
    library, _, name = owner.partition(".")
    known = history()[library]["keywords"].get(name, {})
    order = releases()[library]
    changes: list[int] = []
    for written, names in known.items():
        begin, _, end = written.rpartition(" ")[2].partition("..")
        if end and not set(names.split()).isdisjoint(parameters):
            changes.append(order.index(end) + 1)
        elif not end and not set(names.split()) <= set(parameters):
            changes.append(order.index(begin) if begin else 0)
    first = min(changes, default=0)
    return order[first] if first else ""


def named_releases(text: str, given: str) -> dict[str, Version]:
    """Read versions such as `trl==0.11.4, transformers==4.44.2`.

    Args:
        text: the versions.
        given: what the user wrote, for messages.

    Raises:
        UsageError: they are not written so, or contradict each other, or a version never was or
            is older than the table.
    """
    from packaging.version import InvalidVersion, Version

    named: dict[str, Version] = {}
    for part in text.split(","):
        library, equals, number = (piece.strip() for piece in part.partition("=="))
        if not equals or not library:
            raise UsageError(f"{given} names no versions in {part.strip()!r}; {_EXAMPLE}")
        if library not in releases():
            known = ", ".join(releases())
            raise UsageError(
                f"{given} names {library}, of which patchkit knows no changes; it knows those of "
                f"{known}"
            )
        try:
            version = Version(number)
        except InvalidVersion as error:
            raise UsageError(
                f"{given}: {number!r} is not a version of {library}; {_EXAMPLE}"
            ) from error
        if named.setdefault(library, version) != version:
            raise UsageError(
                f"{given} names two versions of {library}, {named[library]} and {version}; keep one"
            )
    for library, version in named.items():
        _check(given, library, version)
    return named


def _check(given: str, library: str, version: Version) -> None:
    from packaging.version import Version

    known = [Version(number) for number in releases()[library]]
    named = release(f"{library} {version}")
    if version < known[0]:
        raise UsageError(
            f"{given}: {named} is older than patchkit's table, which begins with {known[0]}; name "
            "that one for the nearest"
        )
    if version <= known[-1] and Version(version.base_version) not in known:
        nearest = max(number for number in known if number < version)
        raise UsageError(f"{given}: there never was {named}; the release before is {nearest}")
