"""List the patches that are due here, and the definitions that cannot be read."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator

from ...catalogue.definitions import ENTRY_POINT_GROUP
from ...catalogue.folders import PACKAGE as LOCAL_PACKAGE
from ...catalogue.selection import DISABLE_VARIABLE
from ...engine.session import SESSION
from ...environment import installed_version
from ...errors import UnreadableVersion
from ...libraries import with_role
from ...matrix.lookup import measured_versions
from ...matrix.records import public_version
from ...patch import Status
from ...reporting import advice
from ...reporting.record import PatchRecord
from ...reporting.status import DUE, TROUBLE
from ...text import plural, short_list
from .frameworks import usual_start
from .privacy import without_private_data
from .section import Section, SectionRow, Step
from .versions import installed_libraries

NAME, TITLE = "patches", "Patches"

_SHOWN = 6
_LEVELS = {
    "combination": "run on exactly these versions",
    "version": "run on this version of the library, beside others",
    "scanned": "only read in the sources of this version",
    "none": "neither run nor read on this version",
    "unknown": "unknown: the matrix cannot be read",
}


def check() -> Section:
    records = [record for record in SESSION.report() if not advice.is_opt_in(record)]
    due = [record for record in records if record.status in DUE]
    left_out = [record for record in records if record.status is Status.DISABLED]
    troubled = [record for record in records if record.status in TROUBLE and record.affects]
    broken = [record for record in records if record.status is Status.FAILED and not record.affects]
    others = {"from others": _third_parties(), "your own": _local()}
    untested = [record for record in records if record.status is Status.UNTESTED]
    levels = Counter(record.tested.level for record in due)
    torch, measured = installed_version("torch"), measured_versions("torch")
    rows = [
        *_due_rows(due, levels),
        *_torch_rows(torch, measured),
        *_untested_rows(untested),
        *_other_rows(left_out, troubled, broken, others),
    ]
    facts = {
        "due": {record.id: record.tested.level for record in due},
        "measured_with_torch": measured,
        "untested": [record.id for record in untested],
        "switched_off": [record.id for record in left_out],
        "troubled": {record.id: without_private_data(record.reason) for record in troubled},
        "broken": [without_private_data(record.reason) for record in broken],
        "from_others": others["from others"],
        "your_own": others["your own"],
    }
    steps = (
        *_apply_step(due),
        *_broken_steps(broken),
        *_trouble_steps(troubled),
        *_verify_step(due),
        *_untested_step(untested),
    )
    return Section(NAME, TITLE, tuple(rows), facts, steps)


def _third_parties() -> list[str]:
    """List the distributions beside patchkit that ship patches."""
    from importlib import metadata

    points = metadata.entry_points(group=ENTRY_POINT_GROUP)
    return sorted({point.dist.name if point.dist else point.value for point in points})


def _local() -> list[str]:
    """List the patches in a folder of the project."""
    prefix = f"{LOCAL_PACKAGE}."
    return [entry.patch.id for entry in SESSION.catalogue if entry.module.startswith(prefix)]


def _due_rows(due: list[PatchRecord], levels: Counter[str]) -> Iterable[SectionRow]:
    libraries = Counter(record.library for record in due)
    if not due:
        yield SectionRow("due", "none")
        return
    yield SectionRow("due", ", ".join(f"{name} {count}" for name, count in libraries.most_common()))
    for level, words in _LEVELS.items():
        if levels[level]:
            count = "all of them" if levels[level] == len(due) else str(levels[level])
            yield SectionRow("", f"{count} {words}", alarming=level in ("none", "unknown"))


def _torch_rows(torch: str | None, measured: list[str]) -> Iterable[SectionRow]:
    if torch and measured and public_version(torch) not in measured:
        versions = short_list(measured, len(measured))
        yield SectionRow("torch", f"not measured with {torch}; measured with {versions}")


def _untested_rows(untested: list[PatchRecord]) -> Iterable[SectionRow]:
    if untested:
        names = short_list((record.id for record in untested), _SHOWN)
        yield SectionRow("untested", f"older than any measured release: {names}")


def _other_rows(
    left_out: list[PatchRecord],
    troubled: list[PatchRecord],
    broken: list[PatchRecord],
    others: dict[str, list[str]],
) -> Iterable[SectionRow]:
    if left_out:
        names = short_list((record.id for record in left_out), _SHOWN)
        yield SectionRow("switched off", f"by {DISABLE_VARIABLE}: {names}")
    if troubled:
        names = short_list((record.id for record in troubled), _SHOWN)
        yield SectionRow("in trouble", f"{names}: {without_private_data(troubled[0].reason)}", True)
    for record in broken:
        yield SectionRow("unreadable", without_private_data(record.reason), alarming=True)
    for label, sources in others.items():
        if sources:
            yield SectionRow(label, short_list(sources, _SHOWN))


def _apply_step(due: list[PatchRecord]) -> Iterator[Step]:
    waiting = [record for record in due if record.status is Status.AVAILABLE]
    if not waiting:
        return
    libraries = short_list(
        dict.fromkeys(f"{record.library} {record.version}" for record in waiting), _SHOWN
    )
    number = plural(len(waiting), "bug")
    yield Step(
        f"patchkit fixes {number} of the installed libraries ({libraries}). Put this at the "
        "start of your script, or start it like this:",
        ("import patchkit; patchkit.apply()", f"patchkit run -- {usual_start()}"),
    )


def _broken_steps(broken: list[PatchRecord]) -> Iterator[Step]:
    for record in broken:
        reason = without_private_data(record.reason)
        yield Step(f"A patch cannot be read: {reason}. {_sentence(record)}", wrong=True)


def _trouble_steps(troubled: list[PatchRecord]) -> Iterator[Step]:
    reasons: dict[str, list[str]] = {}
    reported = installed_libraries()
    for record in troubled:
        if isinstance(record.error, UnreadableVersion) and record.error.library in reported:
            continue
        reasons.setdefault(without_private_data(record.reason), []).append(record.id)
    for reason, ids in reasons.items():
        yield Step(f"Patches are not applied here: {reason} ({short_list(ids)}).", wrong=True)


def _sentence(record: PatchRecord) -> str:
    text = record.advice
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _verify_step(due: list[PatchRecord]) -> Iterator[Step]:
    """Suggest to verify patches that were never run on this version of the library."""
    new = [record.id for record in due if record.tested.level in ("scanned", "none", "unknown")]
    if not new:
        return
    number = "1 due patch was" if len(new) == 1 else f"{len(new)} due patches were"
    ids = " ".join(new) if len(new) <= 2 else ""
    yield Step(
        f"{number} never run on the installed versions. This runs each bug here, with "
        "and without its patch; it takes minutes.",
        (f"patchkit verify {ids}".strip(),),
    )


def _untested_step(untested: list[PatchRecord]) -> Iterator[Step]:
    """Suggest to look for bugs on versions older than any measured."""
    if not untested:
        return
    from packaging.version import Version

    pairs = {record.measured_from() for record in untested}
    # The oldest that was measured of each library wins.
    oldest = dict(sorted(pairs, key=lambda pair: Version(pair[1]), reverse=True))
    versions = short_list([f"{name} {installed_version(name)}" for name in sorted(oldest)], _SHOWN)
    number = plural(len(untested), "bug")
    # A newer one of them may not fit the others as they are. With the range, a command that a
    # requirement keeps from installing what was measured is not printed.
    names = filter(installed_version, dict.fromkeys((*with_role("patched"), *oldest)))
    wanted = (f"{name}>={oldest[name]}" if name in oldest else name for name in names)
    yield Step(
        f"For {number} the installed versions ({versions}) are older than any that was "
        "measured: patchkit does not change them. This looks for the bugs; newer versions "
        "were measured.",
        ("patchkit verify --everywhere", f"pip install -U {shlex.join(wanted)}"),
    )
