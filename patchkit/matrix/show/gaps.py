"""List what was not measured, and why not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ..outcome_table import TELLS
from ..records import Matrix
from .releases import libraries_of


def gaps(
    matrix: Matrix,
    patches: Mapping[str, str],
    selected: Iterable[str],
    libraries: Collection[str] = (),
) -> tuple[str, ...]:
    """Return a line for each patch, release or version set that was not measured.

    Releases and version sets are those of the given libraries; of all, if none is given.
    """
    selected = list(selected)
    concerned = libraries or {
        library for patch in selected for library in libraries_of(patch, matrix, patches)
    }
    lines: list[str] = []
    for patch in selected:
        lines += _patch_gaps(patch, matrix, patches)
    releases = [scan for scan in matrix.scans if scan.problem and scan.library in concerned]
    lines += [f"{scan.library} {scan.version}, not read: {scan.problem}" for scan in releases]
    for skipped in sorted(matrix.unmeasured, key=lambda skipped: skipped.name):
        if not concerned or concerned & skipped.versions.keys():
            pins = ", ".join(f"{name} {version}" for name, version in skipped.versions.items())
            lines.append(f"version set {skipped.name} ({pins}), not run: {skipped.problem}")
    return tuple(lines)


def _patch_gaps(patch: str, matrix: Matrix, patches: Mapping[str, str]) -> Iterator[str]:
    outcomes = {result.outcome for result in matrix.results if result.patch == patch}
    was_read = any(patch in scan.states for scan in matrix.scans)
    sources = "only its sources were read" if was_read else "nothing was read either"
    if not outcomes and not was_read:
        yield f"{patch}: nothing was run or read"
    elif not outcomes:
        yield f"{patch}: never run; {sources}"
    elif not outcomes & TELLS:
        yield f"{patch}: never run to an end ({', '.join(sorted(outcomes))}); {sources}"
    if outcomes and not libraries_of(patch, matrix, patches):
        yield (
            f"{patch}: not in the catalogue, and its library is not known; --by set shows what "
            "was run"
        )
