"""Read version sets: releases to install and measure together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from patchkit.matrix.file import default_path
from patchkit.matrix.records import MatrixError


@dataclass(frozen=True)
class VersionSet:
    """Releases to install together.

    Args:
        name: of its file; its tox environment is `matrix-NAME`.
        versions: distribution to version, all exact.
    """

    name: str
    versions: dict[str, str]


def default_folder() -> Path:
    """Return the folder of version sets in a checkout.

    Raises:
        MatrixError: this installation has none.
    """
    folder = default_path().parent / "version_sets"
    if not folder.is_dir():
        raise MatrixError(
            "version sets come only with a checkout of patchkit; this is an installed copy"
        )
    return folder


def read_sets(folder: Path) -> list[VersionSet]:
    """Read all version sets of a folder, sorted by name.

    A set `NAME` holds the pins of `NAME.txt`, and those of `no-deps/NAME.txt` if there is one.

    Raises:
        MatrixError: there are none, or a line is not an exact pin.
    """
    if not folder.is_dir():
        raise MatrixError(f"no folder of version sets at {folder}")
    files = {file.stem: file for file in sorted(folder.glob("*.txt"))}
    alone = {file.stem: file for file in sorted(folder.glob("no-deps/*.txt"))}
    if not files:
        raise MatrixError(f"no version sets in {folder}: expected requirement files NAME.txt")
    if stray := sorted(set(alone) - set(files)):
        raise MatrixError(f"{alone[stray[0]]} adds to a version set that does not exist")
    return [
        VersionSet(name, _versions(file for file in (path, alone.get(name)) if file))
        for name, path in files.items()
    ]


def _versions(files: Iterable[Path]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for file in files:
        for place, (name, version) in _pins(file):
            if name in versions:
                raise MatrixError(f"{place}: {name} is pinned twice")
            versions[name] = version
    return versions


def _pins(file: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise MatrixError(f"cannot read the version set {file}: {error}") from None
    for number, line in enumerate(text.splitlines(), 1):
        requirement = line.partition("#")[0].strip()
        if requirement:
            place = f"{file.parent.name}/{file.name}, line {number}"
            yield place, _pin(requirement, place)


def _pin(text: str, place: str) -> tuple[str, str]:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        requirement = Requirement(text)
        (specifier,) = requirement.specifier
    except (InvalidRequirement, ValueError):  # a ValueError: none or several
        specifier = None
    exact = specifier is not None and specifier.operator == "==" and "*" not in specifier.version
    if specifier is None or not exact or requirement.marker:
        raise MatrixError(f"{place}: {text!r} is not an exact pin such as trl==1.16.0")
    return canonicalize_name(requirement.name), specifier.version
