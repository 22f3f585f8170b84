"""Make the grid of patches by version sets, with all that was run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...libraries import with_role
from ..records import Environment, Matrix, Result
from .cells import cell_of
from .grid import Grid, PatchRow

_Key = tuple[str, tuple[tuple[str, str], ...]]
_FIRST = (*with_role("patched"), "torch")
"""Distributions that tell two version sets apart, before any other."""


def grid_of_sets(
    matrix: Matrix, patches: Mapping[str, str], selected: Iterable[str]
) -> tuple[Grid, list[list[Environment]]]:
    """Return the grid, and for each column the environments of its runs, mostly one."""
    # Patches of one library stand together, those that the catalogue no longer has at the end.
    ordered = sorted(selected, key=lambda patch: (patch not in patches, patches.get(patch, "")))
    ids = set(ordered)
    columns: dict[_Key, list[Result]] = {}
    for result in matrix.results:
        if result.patch in ids:
            columns.setdefault(_key(result.environment), []).append(result)
    keys = sorted(columns, key=_place)
    labels = _labels(keys)
    rows = (
        PatchRow(
            patch,
            patch in patches,
            tuple(
                cell_of(patch, [result for result in columns[key] if result.patch == patch])
                for key in keys
            ),
        )
        for patch in ordered
    )
    where = [list(_distinct(result.environment for result in columns[key])) for key in keys]
    return Grid("version sets", tuple(labels[key] for key in keys), tuple(rows)), where


def _key(where: Environment) -> _Key:
    return where.device, tuple(sorted(where.versions.items()))


def _place(key: _Key) -> tuple[Any, ...]:
    from packaging.version import Version

    device, versions = key
    numbers = tuple((name, Version(version)) for name, version in versions)
    return Version(dict(versions).get("trl", "0")), numbers, device


def _distinct(environments: Iterable[Environment]) -> Iterator[Environment]:
    seen: list[Environment] = []
    for environment in environments:
        if environment not in seen:
            seen.append(environment)
            yield environment


def _labels(keys: list[_Key]) -> dict[_Key, str]:
    """Label each set with its TRL, and with the rest that tells sets of the same TRL apart."""
    names = dict.fromkeys(name for _, versions in keys for name, _ in versions)
    others = sorted(set(names).difference(_FIRST))
    order = [*_FIRST, *others, ""]
    differences = _differences(keys, order, always="trl")
    return {key: ", ".join(parts) or "nothing of note" for key, parts in differences.items()}


def _differences(
    keys: list[_Key], names: list[str], always: str | None = None
) -> dict[_Key, list[str]]:
    """Return for each set the fewest entries that tell it from the others."""
    if not names or (len(keys) == 1 and names[0] != always):
        return {key: [] for key in keys}
    first, *rest = names
    groups: dict[str, list[_Key]] = {}
    for key in keys:
        groups.setdefault(_entry(key, first), []).append(key)
    shows = len(groups) > 1 or first == always
    return {
        key: [*([entry] if shows and entry else []), *parts]
        for entry, group in groups.items()
        for key, parts in _differences(group, rest).items()
    }


def _entry(key: _Key, name: str) -> str:
    device, versions = key
    if not name:
        return f"on {device}"
    version = dict(versions).get(name)
    return f"{name} {version}" if version else ""
