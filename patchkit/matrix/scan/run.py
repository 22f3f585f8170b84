"""Run a scan: judge each patch in each release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ...catalogue import entries
from ...catalogue.entries import Catalogue
from ...errors import UsageError
from ..records import Scan, ScanError
from . import sources, wheels
from .memory import Memory, key
from .questions import Questions
from .sources import Release, SelectedReleases
from .verdicts import scan_of
from .workers import Workers, library_questions

_MOST_JOBS = 8
_DOWNLOADS = 4

Progress = Callable[[str, int, int], None]
"""`progress("trl 1.16.0", 3, 47)`: the release being scanned, the number done and the total."""


@dataclass(frozen=True)
class ScanResult:
    """The result of a scan.

    Args:
        scans: one for each release; one that could not be read has a `problem`.
        gaps: what was not scanned, or perhaps not completely, to the reason: a library whose
            releases cannot be listed, a patch that cannot be read.
        recordable: whether these are releases as they were published.
    """

    scans: tuple[Scan, ...]
    gaps: dict[str, str] = field(default_factory=dict)
    recordable: bool = True


def scan(
    ids: str | Iterable[str] | None = None,
    *,
    libraries: Iterable[str] = (),
    versions: str = "",
    folder: Path | None = None,
    newest: bool = False,
    cache: Path | None = None,
    jobs: int | None = None,
    progress: Progress = lambda label, done, total: None,
    catalogue: Catalogue | None = None,
) -> ScanResult:
    """Search the sources of releases for the bugs that patches fix, without importing them.

    Args:
        ids: the patches to look for, ids or globs; all by default.
        libraries: distributions to scan; by default those that the patches fix.
        versions: a PEP 440 range; by default all releases from the first that a patch claims to
            one after the last. Pre-releases only if it names one.
        folder: a folder of wheels, or an unpacked source tree, to scan instead.
        newest: scan only the newest of these releases.
        cache: folder for sources and findings; `PATCHKIT_CACHE` or the user's cache folder by
            default.
        jobs: number of processes; by default the number of processors, 8 at most.
        progress: called with the progress.
        catalogue: the patches; those of this installation by default. If given, the scan runs in
            this process.

    Raises:
        UsageError: an argument is invalid, or an id or a library is unknown.
        ScanError: nothing at all could be scanned.
    """
    patches = catalogue if catalogue is not None else entries.load()
    questions = _libraries(patches, ids, libraries)
    cache = cache or wheels.default_folder()
    if folder is not None:
        explicit = bool(ids or libraries)
        selection = sources.from_folder(
            questions, versions, folder, newest=newest, explicit=explicit
        )
    else:
        selection = sources.from_index(questions, versions, newest=newest, cache=cache)
    if not selection.releases:
        raise ScanError("; ".join(dict.fromkeys(selection.gaps.values())))
    jobs = 1 if catalogue is not None else jobs or min(os.cpu_count() or 1, _MOST_JOBS)
    scans = tuple(_scans(selection, questions, cache, jobs, progress))
    broken = {entry.name: f"not looked for: {entry.error}" for entry in patches.broken}
    published = folder is None or any(folder.glob("*.whl"))
    return ScanResult(scans, {**selection.gaps, **broken}, recordable=published)


def _libraries(
    patches: Catalogue, ids: str | Iterable[str] | None, libraries: Iterable[str]
) -> dict[str, Questions]:
    from packaging.utils import canonicalize_name

    selected = patches.matching_ids(ids, "IDS") or set(patches.entries)
    fixed = {patches.entries[name].patch.library for name in selected}
    if names := {canonicalize_name(library) for library in libraries}:
        unknown = names - {canonicalize_name(library) for library in fixed}
        if unknown:
            raise UsageError(
                f"no patch fixes {', '.join(sorted(unknown))}; there are patches of "
                f"{', '.join(sorted(fixed))}"
            )
        fixed = {library for library in fixed if canonicalize_name(library) in names}
    wanted = selected if ids else None
    return {library: library_questions(patches, library, wanted) for library in sorted(fixed)}


def _scans(
    selection: SelectedReleases,
    questions: dict[str, Questions],
    cache: Path,
    jobs: int,
    progress: Progress,
) -> Iterator[Scan]:
    memories = {library: Memory(cache, library, questions[library]) for library in questions}
    total = len(selection.releases)
    with Workers(jobs) as workers, ThreadPoolExecutor(_DOWNLOADS) as downloads:
        fetches = [downloads.submit(release.fetch) for release in selection.releases]
        try:
            for number, (release, download) in enumerate(
                zip(selection.releases, fetches, strict=True)
            ):
                progress(f"{release.library} {release.version}", number, total)
                library = release.library
                yield _scan(release, download, questions[library], memories[library], workers)
            progress("", total, total)
        finally:
            downloads.shutdown(cancel_futures=True)


def _scan(
    release: Release, download: Future[None], questions: Questions, memory: Memory, workers: Workers
) -> Scan:
    try:
        download.result()
        tree = release.read(questions.packages)
    except ScanError as error:
        today = date.today().isoformat()
        return Scan(release.library, release.version, today, problem=str(error))
    keys = {module: key(module, content) for module, content in tree.items()}
    new = [(module, content) for module, content in tree.items() if keys[module] not in memory]
    new_facts = workers.gather(release.library, questions, new)
    memory.add({keys[module]: facts for (module, _), facts in zip(new, new_facts, strict=True)})
    modules = {module: memory[name] for module, name in keys.items()}
    return scan_of(release.library, release.version, modules, questions, release.note())
