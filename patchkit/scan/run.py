"""A scan: from patches and releases to what became of each patch in each release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from .. import catalogue as catalogue_
from ..errors import UsageError
from ..matrix import Scan
from . import sources, wheels
from .errors import ScanError
from .looking import Lookers, of_library
from .memory import Memory, key
from .questions import Questions
from .sources import Release, Wanted
from .verdicts import scan_of

_MOST_JOBS = 8
_DOWNLOADS = 4

Progress = Callable[[str, int, int], None]
"""`progress("trl 1.16.0", 3, 47)`: what is looked at now, how many are done, and of how many."""


@dataclass(frozen=True)
class Scanned:
    """What a scan found.

    Args:
        scans: one for each release; one that could not be read has a `problem`.
        gaps: what was not scanned, or perhaps not wholly, to the reason: a library whose releases
            the index does not tell, a patch that cannot be read.
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
    progress: Progress | None = None,
    catalogue: catalogue_.Catalogue | None = None,
) -> Scanned:
    """Look in the sources of releases for what patches mend; nothing of them is imported.

    Args:
        ids: patches whose libraries are scanned, ids or globs; all by default. All patches of
            such a library are looked for.
        libraries: distributions to scan; by default those that the patches mend.
        versions: a PEP 440 range; by default all releases from the first that a patch claims to
            one after the last. Pre-releases only where it names one.
        folder: wheels, or an unpacked source tree; all that is there is scanned instead.
        newest: only the newest of these releases.
        cache: where sources and findings are kept; `PATCHKIT_CACHE` or the user's cache folder by
            default.
        jobs: number of processes; by default that of the processors, 8 at most.
        progress: is told what is going on.
        catalogue: the patches; those of this installation by default. Given ones are looked for
            in this process.

    Raises:
        UsageError: an argument makes no sense, or an id or a library is unknown.
        ScanError: nothing at all could be scanned.
    """
    given = catalogue is not None
    known = catalogue if catalogue is not None else catalogue_.load()
    asked = _libraries(known, ids, libraries)
    cache = cache or wheels.default_folder()
    if folder is not None:
        named = bool(ids or libraries)
        wanted = sources.from_folder(asked, versions, folder, newest=newest, named=named)
    else:
        wanted = sources.from_index(asked, versions, newest=newest, cache=cache)
    if not wanted.releases:
        raise ScanError("; ".join(dict.fromkeys(wanted.gaps.values())))
    jobs = 1 if given else jobs or min(os.cpu_count() or 1, _MOST_JOBS)
    found = tuple(_scans(wanted, asked, cache, jobs, progress or _silent))
    broken = {one.name: f"it was not looked for: {one.error}" for one in known.broken}
    published = folder is None or any(folder.glob("*.whl"))
    return Scanned(found, {**wanted.gaps, **broken}, recordable=published)


def _libraries(
    known: catalogue_.Catalogue, ids: str | Iterable[str] | None, libraries: Iterable[str]
) -> dict[str, Questions]:
    from packaging.utils import canonicalize_name

    chosen = known.named(ids, "IDS") or set(known.entries)
    mended = {known.entries[one].patch.library for one in chosen}
    if wanted := {canonicalize_name(one) for one in libraries}:
        unknown = wanted - {canonicalize_name(one) for one in mended}
        if unknown:
            raise UsageError(
                f"no patch mends {', '.join(sorted(unknown))}; there are patches of "
                f"{', '.join(sorted(mended))}"
            )
        mended = {one for one in mended if canonicalize_name(one) in wanted}
    return {one: of_library(known, one) for one in sorted(mended)}


def _scans(
    wanted: Wanted, asked: dict[str, Questions], cache: Path, jobs: int, progress: Progress
) -> Iterator[Scan]:
    memories = {library: Memory(cache, library, asked[library]) for library in asked}
    total = len(wanted.releases)
    with Lookers(jobs) as lookers, ThreadPoolExecutor(_DOWNLOADS) as downloads:
        fetched = [downloads.submit(one.fetch) for one in wanted.releases]
        try:
            for number, (release, there) in enumerate(zip(wanted.releases, fetched, strict=True)):
                progress(f"{release.library} {release.version}", number, total)
                library = release.library
                yield _scan(release, there, asked[library], memories[library], lookers)
            progress("", total, total)
        finally:
            downloads.shutdown(cancel_futures=True)


def _scan(
    release: Release,
    there: Future[None],
    questions: Questions,
    memory: Memory,
    lookers: Lookers,
) -> Scan:
    try:
        there.result()
        tree = release.read(questions.packages)
    except ScanError as error:
        today = date.today().isoformat()
        return Scan(release.library, release.version, today, problem=str(error))
    keys = {module: key(module, content) for module, content in tree.items()}
    new = [(module, content) for module, content in tree.items() if keys[module] not in memory]
    found = lookers.look(release.library, questions, new)
    memory.add({keys[module]: facts for (module, _), facts in zip(new, found, strict=True)})
    modules = {module: memory[name] for module, name in keys.items()}
    return scan_of(release.library, release.version, modules, questions, release.note())


def _silent(what: str, done: int, total: int) -> None:
    pass
