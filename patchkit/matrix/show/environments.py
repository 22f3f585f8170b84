"""Patches by version sets: one grid of all that was run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..records import Environment, Matrix, Result
from .cells import cell_of
from .grid import Grid, Row

_Key = tuple[str, tuple[tuple[str, str], ...]]
_TELLING = ("transformers", "peft", "accelerate", "bitsandbytes", "torch")
"""What tells two version sets apart, before any other distribution."""


def grid_of_sets(
    matrix: Matrix, patches: Mapping[str, str], chosen: Iterable[str]
) -> tuple[Grid, list[list[Environment]]]:
    """The grid, and for each of its columns where it was run: one environment as a rule.

    Args:
        matrix: what was measured.
        patches: id to library, of the patches that the catalogue has.
        chosen: ids, whether the catalogue has them or only the matrix.
    """
    # Patches of one library stand together, those that the catalogue no longer has at the end.
    ordered = sorted(chosen, key=lambda patch: (patch not in patches, patches.get(patch, "")))
    wanted = set(ordered)
    columns: dict[_Key, list[Result]] = {}
    for one in matrix.results:
        if one.patch in wanted:
            columns.setdefault(_key(one.environment), []).append(one)
    keys = sorted(columns, key=_place)
    labels = _labels(keys)
    rows = (
        Row(
            patch,
            patch in patches,
            tuple(cell_of(patch, [it for it in columns[key] if it.patch == patch]) for key in keys),
        )
        for patch in ordered
    )
    where = [list(_distinct(one.environment for one in columns[key])) for key in keys]
    return Grid("version sets", tuple(labels[key] for key in keys), tuple(rows)), where


def _key(where: Environment) -> _Key:
    return where.device, tuple(sorted(where.versions.items()))


def _place(key: _Key) -> tuple[Any, ...]:
    from packaging.version import Version

    device, versions = key
    numbers = tuple((name, Version(version)) for name, version in versions)
    return Version(dict(versions).get("trl", "0")), numbers, device


def _distinct(found: Iterable[Environment]) -> Iterator[Environment]:
    seen: list[Environment] = []
    for one in found:
        if one not in seen:
            seen.append(one)
            yield one


def _labels(keys: list[_Key]) -> dict[_Key, str]:
    """The TRL of each set, and what tells it from others with the same TRL."""
    names = dict.fromkeys(name for _, versions in keys for name, _ in versions)
    others = sorted(set(names) - {"trl", *_TELLING})
    telling = ["trl", *_TELLING, *others, ""]
    told = _told(keys, telling, always="trl")
    return {key: ", ".join(parts) or "nothing of note" for key, parts in told.items()}


def _told(keys: list[_Key], names: list[str], always: str | None = None) -> dict[_Key, list[str]]:
    """For each set the entries that tell it from the others, as few as will do."""
    if not names or (len(keys) == 1 and names[0] != always):
        return {key: [] for key in keys}
    first, *rest = names
    groups: dict[str, list[_Key]] = {}
    for key in keys:
        groups.setdefault(_entry(key, first), []).append(key)
    says = len(groups) > 1 or first == always
    return {
        key: [*([entry] if says and entry else []), *parts]
        for entry, group in groups.items()
        for key, parts in _told(group, rest).items()
    }


def _entry(key: _Key, name: str) -> str:
    device, versions = key
    if not name:
        return f"on {device}"
    version = dict(versions).get(name)
    return f"{name} {version}" if version else ""
