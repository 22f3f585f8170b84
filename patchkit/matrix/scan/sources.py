"""Select releases and find their sources: on the package index, in wheels, or in a tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from ...errors import UsageError
from ..records import ScanError
from . import releases, tree
from .questions import Questions
from .tree import Tree
from .wheels import Wheel, cached_versions


@dataclass(frozen=True)
class Release:
    """One release to scan.

    Args:
        library: the distribution.
        version: its release.
        read: returns the modules of some packages.
        fetch: downloads its sources if they are not there; slow.
        note: returns a remark on the release, once it was fetched.
    """

    library: str
    version: str
    read: Callable[[Collection[str]], Tree]
    fetch: Callable[[], None] = lambda: None
    note: Callable[[], str] = lambda: ""


@dataclass(frozen=True)
class SelectedReleases:
    """The releases to scan, and why a library is not scanned, or not completely."""

    releases: tuple[Release, ...]
    gaps: dict[str, str]


def from_index(
    libraries: Mapping[str, Questions], versions: str, *, newest: bool, cache: Path
) -> SelectedReleases:
    """Select releases on the package index, to be fetched with pip into a cache folder."""
    selected: list[Release] = []
    gaps: dict[str, str] = {}
    for library, questions in libraries.items():
        try:
            listing = releases.list_releases(library, cached_versions(cache, library))
        except ScanError as error:
            gaps[library] = str(error)
            continue
        if listing.doubt:
            gaps[library] = listing.doubt
        numbers = releases.selected_releases(
            listing.versions, questions.patches, versions, newest=newest
        )
        if not numbers:
            gaps[library] = _none_in(library, versions)
        for version in numbers:
            wheel = Wheel(cache, library, version)
            selected.append(Release(library, version, wheel.read, wheel.fetch, wheel.note))
    return SelectedReleases(tuple(selected), gaps)


def from_folder(
    libraries: Mapping[str, Questions], versions: str, folder: Path, *, newest: bool, explicit: bool
) -> SelectedReleases:
    """Select releases in a folder: wheels, or one unpacked tree.

    For a tree without metadata, `versions` is `==` and its version. If the user named the libraries
    (`explicit`), a missing one is a gap.

    Raises:
        UsageError: there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    wheels = sorted(folder.glob("*.whl"))
    selected: list[Release] = []
    gaps: dict[str, str] = {}
    for library, questions in libraries.items():
        places = (
            _archives(wheels, library) if wheels else _tree(folder, library, questions, versions)
        )
        if not places:
            if explicit:
                gaps[library] = f"{folder} has no {'wheel' if wheels else 'package'} of {library}"
            continue
        numbers = releases.sorted_versions(places)  # pre-releases, too
        if versions:
            numbers = releases.selected_releases(numbers, questions.patches, versions)
        numbers = numbers[-1:] if newest else numbers
        if not numbers:
            gaps[library] = _none_in(library, versions)
        for version in numbers:
            read = tree.of_folder if places[version].is_dir() else tree.of_archive
            selected.append(Release(library, version, partial(read, places[version])))
    if not selected and not gaps:
        raise UsageError(f"{folder} has neither wheels nor packages of {', '.join(libraries)}")
    return SelectedReleases(tuple(selected), gaps)


def _archives(wheels: list[Path], library: str) -> dict[str, Path]:
    from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

    archives: dict[str, Path] = {}
    for wheel in wheels:
        try:
            name, version, _, _ = parse_wheel_filename(wheel.name)
        except InvalidWheelFilename:
            continue
        if name == canonicalize_name(library):
            archives.setdefault(str(version), wheel)
    return archives


def _tree(folder: Path, library: str, questions: Questions, versions: str) -> dict[str, Path]:
    from packaging.utils import canonicalize_name

    if not any((folder / name).exists() for name in questions.packages):
        return {}
    for installed in metadata.distributions(path=[str(folder)]):
        name = installed.metadata["Name"]
        if name and canonicalize_name(name) == canonicalize_name(library):
            return {installed.version: folder}
    exact = versions.removeprefix("==").strip()
    if not versions.startswith("==") or not releases.sorted_versions([exact]):
        raise UsageError(
            f"{folder} does not say which version of {library} it has: give it with "
            "--versions '==1.2.3'"
        )
    return {exact: folder}


def _none_in(library: str, versions: str) -> str:
    where = f"lies in {versions!r}" if versions else "is claimed by a patch"
    return f"no release of {library} {where}"
