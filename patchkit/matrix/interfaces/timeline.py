"""Write down which release has which name, module and keyword, in few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .interface import LIBRARIES, Interface
from .modules import Modules
from .signatures import ANY

SCHEMA = 1

Groups = dict[str, str]
"""Releases, as `written` puts them, to the names that are in these releases, with blanks between."""


@dataclass(frozen=True)
class Released:
    """What one release has.

    Args:
        interface: its public interface.
        modules: its modules, and the names in them.
    """

    interface: Interface
    modules: Modules


def timeline(libraries: Mapping[str, Mapping[str, Released]]) -> dict[str, Any]:
    """Return what the releases of the libraries have, as JSON can hold it.

    Args:
        libraries: by library the releases, the oldest first.
    """
    content: dict[str, Any] = {"schema": SCHEMA}
    for library, releases in libraries.items():
        content[library] = {
            "releases": " ".join(releases),
            "modules": _grouped([it.modules for it in releases.values()], list(releases)),
            "names": _names([it.modules for it in releases.values()], list(releases)),
            "keywords": _of_each(
                [it.interface.keywords for it in releases.values()], list(releases)
            ),
            "taken_from": _of_each(
                [_foreign(it.interface.taken_from) for it in releases.values()], list(releases)
            ),
        }
    return content


def written(numbers: Iterable[int], releases: Sequence[str]) -> str:
    """Put releases into words: `0.7.0..0.11.4 1.0.0..`.

    Args:
        numbers: their places among all releases.
        releases: all releases. A beginning or an end of theirs is left out: the next release is
            expected to be as the last.
    """
    present = set(numbers)
    parts: list[str] = []
    for number in sorted(present):
        if number - 1 not in present:
            first = number
        if number + 1 not in present:
            begin = releases[first] if first else ""
            end = releases[number] if number + 1 < len(releases) else ""
            parts.append(f"{begin}..{end}")
    return " ".join(parts)


def _grouped(has: Sequence[Iterable[str]], releases: Sequence[str]) -> Groups:
    """Return the names that the releases have, those of the same releases together."""
    numbers: dict[str, list[int]] = {}
    for number, names in enumerate(has):
        for name in names:
            numbers.setdefault(name, []).append(number)
    groups: dict[str, list[str]] = {}
    for name in sorted(numbers):
        groups.setdefault(written(numbers[name], releases), []).append(name)
    return {there: " ".join(groups[there]) for there in sorted(groups)}


def _of_each(
    has: Sequence[Mapping[str, Iterable[str]]], releases: Sequence[str]
) -> dict[str, Groups]:
    """Return the same for each owner of names."""
    owners = sorted({owner for owned in has for owner in owned})
    return {owner: _grouped([owned.get(owner, ()) for owned in has], releases) for owner in owners}


def _names(has: Sequence[Modules], releases: Sequence[str]) -> dict[str, Groups]:
    """Return the names in modules; below the top only those that come and go by themselves."""
    found = _of_each(has, releases)
    for module, groups in found.items():
        if module:
            there = written(
                (number for number, modules in enumerate(has) if module in modules), releases
            )
            groups.pop(there, None)
    return {module: groups for module, groups in found.items() if groups}


def _foreign(taken_from: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return whose keywords are taken; those of classes of unknown libraries may be any."""
    return {
        owner: sorted({it if it.partition(".")[0] in LIBRARIES else ANY for it in others})
        for owner, others in taken_from.items()
    }
