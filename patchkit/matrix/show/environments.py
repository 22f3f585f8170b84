"""Make the grid of patches by version sets, with all that was run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    where = [
        list({repr(result.environment): result.environment for result in columns[key]}.values())
        for key in keys
    ]
    return Grid("version sets", tuple(labels[key] for key in keys), tuple(rows)), where


def _key(where: Environment) -> _Key:
    return where.device, tuple(sorted(where.versions.items()))


def _place(key: _Key) -> tuple[Any, ...]:
    from packaging.version import Version

    device, versions = key
    numbers = tuple((name, Version(version)) for name, version in versions)
    return Version(dict(versions).get("trl", "0")), numbers, device


def _labels(keys: list[_Key]) -> dict[_Key, str]:
    """Label each set with its TRL, and with the fewest entries that tell it from the others."""
    names = dict.fromkeys(name for _, versions in keys for name, _ in versions)
    labels: dict[_Key, list[str]] = {key: [] for key in keys}
    alike = [keys]  # groups of sets that have the same label so far
    for name in (*_FIRST, *sorted(set(names).difference(_FIRST)), ""):
        parted: list[list[_Key]] = []
        for group in alike:
            parts: dict[str, list[_Key]] = {}
            for key in group:
                parts.setdefault(_entry(key, name), []).append(key)
            if len(parts) > 1 or name == "trl":
                for entry, part in parts.items():
                    for key in part:
                        labels[key] += [entry] if entry else []
            parted += parts.values()
        alike = parted
    return {key: ", ".join(entries) or "nothing of note" for key, entries in labels.items()}


def _entry(key: _Key, name: str) -> str:
    device, versions = key
    if not name:
        return f"on {device}"
    version = dict(versions).get(name)
    return f"{name} {version}" if version else ""
