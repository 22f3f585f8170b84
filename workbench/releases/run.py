"""Read the released interfaces of the libraries, and check the table against them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from patchkit.errors import UsageError
from patchkit.legacy.rows import all_rows
from patchkit.legacy.rows.toml import read as read_tables
from patchkit.matrix.records import ScanError
from patchkit.matrix.scan import releases, wheels

from .archive import Archive
from .findings import ReleaseFinding, findings
from .history import ReleaseHistory
from .interface import LIBRARIES, Interface, is_there, read
from .memory import InterfaceMemory
from .modules import Modules, modules
from .sources import Sources
from .timeline import Released, timeline

LEFT_OUT = Path(__file__).with_name("left_out.toml")
_DOWNLOADS = 4

Progress = Callable[[str, int, int], None]
"""`progress("trl 1.16.0", 3, 47)`: the release being read, the number done and the total."""


@dataclass(frozen=True)
class ReleasesResult:
    """The result of a scan.

    Args:
        read: by library the releases that were read.
        findings: where the table and the releases disagree.
        gaps: library to the reason why it was not read, or not completely.
        timeline: which release has what, if that was asked for.
    """

    read: dict[str, list[str]]
    findings: list[ReleaseFinding]
    gaps: dict[str, str] = field(default_factory=dict)
    timeline: dict[str, Any] = field(default_factory=dict)


def scan(
    libraries: Collection[str] = (),
    *,
    last: int | None = None,
    folder: Path | None = None,
    cache: Path | None = None,
    with_timeline: bool = False,
    progress: Progress = lambda label, done, total: None,
) -> ReleasesResult:
    """Check the table of changed interfaces against released wheels.

    Args:
        libraries: only these; all by default.
        last: only so many releases of each, the newest.
        folder: wheels to take as the newest releases, in place of the package index.
        cache: keeps sources and what was read; the default is that of `matrix scan`.
        with_timeline: tell which release has what; modules are read for that, too.
        progress: called before each release.

    Raises:
        UsageError: a library is unknown, or the folder has no wheel of any.
    """
    unknown = set(libraries) - LIBRARIES.keys()
    if unknown:
        raise UsageError(
            f"the table has nothing on {', '.join(sorted(unknown))}; it has {', '.join(LIBRARIES)}"
        )
    shown = libraries or LIBRARIES
    reader = _InterfaceReader(cache or wheels.default_folder())
    gaps: dict[str, str] = {}
    selected: list[tuple[str, str]] = []
    for library in LIBRARIES:
        # Classes derive from those of other libraries, as they are in the newest release.
        number = last if library in shown else 1
        try:
            selected += [
                (library, version) for version in reader.versions(library, number, folder, gaps)
            ]
        except ScanError as error:
            gaps[library] = str(error)
    if folder is not None and not any(library in shown for library, _ in selected):
        raise UsageError(f"{folder} has no wheel of {', '.join(shown)}, and none is cached")
    interfaces: dict[str, dict[str, Interface]] = {}
    released: dict[str, dict[str, Released]] = {}
    with ThreadPoolExecutor(_DOWNLOADS) as downloads:
        fetches = [downloads.submit(reader.fetch, *release) for release in selected]
        for number, (release, fetch) in enumerate(zip(selected, fetches, strict=True)):
            library, version = release
            progress(f"{library} {version}", number, len(selected))
            try:
                fetch.result()
                interface = reader.read(library, version)
                interfaces.setdefault(library, {})[version] = interface
                if with_timeline:
                    modules = reader.modules(library, version)
                    released.setdefault(library, {})[version] = Released(interface, modules)
            except ScanError as error:
                gaps[f"{library} {version}"] = str(error)
    progress("", len(selected), len(selected))
    histories = {
        library: ReleaseHistory(library, by_version, partial(reader.has_place, library))
        for library, by_version in interfaces.items()
    }
    found = list(findings(histories, all_rows(), left_out()))
    reader.remember()
    return ReleasesResult(
        {library: history.versions for library, history in histories.items() if library in shown},
        [finding for finding in found if finding.release.partition(" ")[0] in shown],
        gaps,
        timeline(released),
    )


def left_out() -> dict[str, str]:
    """Return what has no row on purpose, as findings name it, and why."""
    tables = read_tables(LEFT_OUT.read_text(encoding="utf-8"), LEFT_OUT.name)
    return {what: table["because"] for table in tables["left_out"] for what in table["what"]}


class _InterfaceReader:
    """Reads releases from the package index, a folder, or the cache."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._memory = InterfaceMemory(cache)
        self._given: dict[tuple[str, str], Path] = {}
        self._opened: dict[tuple[str, str], Sources] = {}
        self._places: dict[tuple[str, str], dict[str, bool]] = {}

    def versions(
        self, library: str, last: int | None, folder: Path | None, gaps: dict[str, str]
    ) -> list[str]:
        """Return the releases of a library that are to be read, the oldest first."""
        from packaging.specifiers import SpecifierSet

        cached = wheels.cached_versions(self._cache, library)
        if folder is not None:
            given = _wheels_in(folder, library)
            self._given.update({(library, version): file for version, file in given.items()})
            known = releases.sorted_versions({*cached, *given})
        else:
            listing = releases.list_releases(library, cached)
            known = list(listing.versions)
            if listing.doubt:
                gaps[library] = listing.doubt
        since = SpecifierSet(f">={LIBRARIES[library]}")
        kept = [
            version
            for version in known
            if since.contains(version, prereleases=(library, version) in self._given)
        ]
        return kept[-last:] if last is not None else kept

    def fetch(self, library: str, version: str) -> None:
        if (library, version) not in self._given:
            wheels.Wheel(self._cache, library, version).fetch()

    def read(self, library: str, version: str) -> Interface:
        """Return the interface of a release."""
        known = self._memory.get(library, version) if self._is_released(library, version) else None
        if known is None:
            known = read(self._open(library, version), library)
            if self._is_released(library, version):
                self._memory.put(library, version, known)
        return known

    def modules(self, library: str, version: str) -> Modules:
        """Return the modules of a release, and the names in them."""
        known = (
            self._memory.modules(library, version) if self._is_released(library, version) else None
        )
        if known is None:
            known = modules(self._open(library, version), library)
            if self._is_released(library, version):
                self._memory.put_modules(library, version, known)
        return known

    def has_place(self, library: str, version: str, place: str) -> bool:
        """Tell whether a dotted name is in a release."""
        release = library, version
        if release not in self._places:
            released = self._is_released(library, version)
            self._places[release] = self._memory.places(library, version) if released else {}
        places = self._places[release]
        if place not in places:
            if release not in self._opened:
                self._opened[release] = self._open(library, version)
            places[place] = is_there(self._opened[release], place)
        return places[place]

    def remember(self) -> None:
        """Keep what was found out about places."""
        for library, version in self._opened:
            if self._is_released(library, version):
                self._memory.put_places(library, version, self._places[library, version])

    def _open(self, library: str, version: str) -> Sources:
        given = self._given.get((library, version))
        if given:
            return Sources(Archive(given, (library,)))
        wheel = wheels.Wheel(self._cache, library, version)
        wheel.fetch()
        return Sources(Archive(wheel.file, (wheels.file_stem(library),)))

    def _is_released(self, library: str, version: str) -> bool:
        return (library, version) not in self._given


def _wheels_in(folder: Path, library: str) -> dict[str, Path]:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    found = {}
    for file in sorted(folder.glob("*.whl")):
        try:
            name, version, _, _ = parse_wheel_filename(file.name)
        except InvalidWheelFilename:
            continue
        if name == library:
            found[str(version)] = file
    return found
