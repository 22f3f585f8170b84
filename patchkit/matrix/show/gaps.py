"""What was not measured, and why: so that nothing is missing without a word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ..outcome_table import TELLS
from ..records import Matrix
from .releases import libraries_of


def gaps(
    matrix: Matrix,
    patches: Mapping[str, str],
    chosen: Iterable[str],
    libraries: Collection[str] = (),
) -> tuple[str, ...]:
    """What was not measured, in lines.

    Args:
        matrix: what was measured.
        patches: id to library, of the patches that the catalogue has.
        chosen: ids, whether the catalogue has them or only the matrix.
        libraries: of which releases and version sets are to be named; all by default.
    """
    chosen = list(chosen)
    concerned = libraries or {
        library for patch in chosen for library in libraries_of(patch, matrix, patches)
    }
    found: list[str] = []
    for patch in chosen:
        found += _of_patch(patch, matrix, patches)
    releases = [one for one in matrix.scans if one.problem and one.library in concerned]
    found += [f"{one.library} {one.version}, not read: {one.problem}" for one in releases]
    found += [
        f"version set {one.name} ({_written(one.versions)}), not run: {one.problem}"
        for one in sorted(matrix.unmeasured, key=lambda one: one.name)
        if not concerned or concerned & one.versions.keys()
    ]
    return tuple(found)


def _of_patch(patch: str, matrix: Matrix, patches: Mapping[str, str]) -> Iterator[str]:
    outcomes = {one.outcome for one in matrix.results if one.patch == patch}
    was_read = any(patch in one.states for one in matrix.scans)
    told = "only its sources were read" if was_read else "nothing was read either"
    if not outcomes and not was_read:
        yield f"{patch}: nothing was run or read"
    elif not outcomes:
        yield f"{patch}: never run; {told}"
    elif not outcomes & TELLS:
        yield f"{patch}: never run to an end ({', '.join(sorted(outcomes))}); {told}"
    if outcomes and not libraries_of(patch, matrix, patches):
        yield (
            f"{patch}: not in the catalogue, and its library is not known; --by set shows what "
            "was run"
        )


def _written(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
