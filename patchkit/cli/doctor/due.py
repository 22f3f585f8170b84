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
_NEVER_RUN = ("scanned", "none", "unknown")


def check() -> Section:
    records = [record for record in SESSION.report() if not advice.is_opt_in(record)]
    due = [record for record in records if record.status in DUE]
    untested = [record for record in records if record.status is Status.UNTESTED]
    left_out = [record for record in records if record.status is Status.DISABLED]
    troubled = [record for record in records if record.status in TROUBLE and record.affects]
    broken = [record for record in records if record.status is Status.FAILED and not record.affects]
    others = {"from others": _third_parties(), "your own": _local()}
    measured = measured_versions("torch")
    found = (
        *_due(due),
        *_torch(installed_version("torch"), measured),
        *_untested(untested),
        *_left_out(left_out),
        *_broken_steps(broken),
        *_troubled(troubled),
        *(SectionRow("unreadable", _reason(record), alarming=True) for record in broken),
        *(SectionRow(label, short_list(names, _SHOWN)) for label, names in others.items() if names),
    )
    facts = {
        "due": {record.id: record.tested.level for record in due},
        "measured_with_torch": measured,
        "untested": [record.id for record in untested],
        "switched_off": [record.id for record in left_out],
        "troubled": {record.id: _reason(record) for record in troubled},
        "broken": list(map(_reason, broken)),
        "from_others": others["from others"],
        "your_own": others["your own"],
    }
    return Section.of(NAME, TITLE, found, facts)


def _reason(record: PatchRecord) -> str:
    return without_private_data(record.reason)


def _names(records: Iterable[PatchRecord]) -> str:
    return short_list((record.id for record in records), _SHOWN)


def _releases(records: Iterable[PatchRecord]) -> str:
    releases = dict.fromkeys(f"{record.library} {record.version}" for record in records)
    return short_list(releases, _SHOWN)


def _third_parties() -> list[str]:
    """List the distributions beside patchkit that ship patches."""
    from importlib import metadata

    points = metadata.entry_points(group=ENTRY_POINT_GROUP)
    return sorted({point.dist.name if point.dist else point.value for point in points})


def _local() -> list[str]:
    """List the patches in a folder of the project."""
    prefix = f"{LOCAL_PACKAGE}."
    return [entry.patch.id for entry in SESSION.catalogue if entry.module.startswith(prefix)]


def _due(due: list[PatchRecord]) -> Iterator[SectionRow | Step]:
    if not due:
        yield SectionRow("due", "none")
        return
    libraries = Counter(record.library for record in due)
    yield SectionRow("due", ", ".join(f"{name} {count}" for name, count in libraries.most_common()))
    levels = Counter(record.tested.level for record in due)
    for level, words in _LEVELS.items():
        if levels[level]:
            count = "all of them" if levels[level] == len(due) else str(levels[level])
            yield SectionRow("", f"{count} {words}", alarming=level in ("none", "unknown"))
    if waiting := [record for record in due if record.status is Status.AVAILABLE]:
        yield Step(
            f"patchkit fixes {plural(len(waiting), 'bug')} of the installed libraries "
            f"({_releases(waiting)}). Put this at the start of your script, or start it like this:",
            ("import patchkit; patchkit.apply()", f"patchkit run -- {usual_start()}"),
        )
    if new := [record.id for record in due if record.tested.level in _NEVER_RUN]:
        number = "1 due patch was" if len(new) == 1 else f"{len(new)} due patches were"
        ids = " ".join(new) if len(new) <= 2 else ""
        yield Step(
            f"{number} never run on the installed versions. This runs each bug here, with "
            "and without its patch; it takes minutes.",
            (f"patchkit verify {ids}".strip(),),
        )


def _torch(torch: str | None, measured: list[str]) -> Iterator[SectionRow]:
    if torch and measured and public_version(torch) not in measured:
        versions = short_list(measured, len(measured))
        yield SectionRow("torch", f"not measured with {torch}; measured with {versions}")


def _untested(untested: list[PatchRecord]) -> Iterator[SectionRow | Step]:
    """Suggest to look for bugs on versions older than any measured."""
    if not untested:
        return
    from packaging.version import Version

    yield SectionRow("untested", f"older than any measured release: {_names(untested)}")
    pairs = {record.measured_from() for record in untested}
    # The oldest that was measured of each library wins.
    oldest = dict(sorted(pairs, key=lambda pair: Version(pair[1]), reverse=True))
    versions = short_list([f"{name} {installed_version(name)}" for name in sorted(oldest)], _SHOWN)
    # A newer one of them may not fit the others as they are. With the range, a command that a
    # requirement keeps from installing what was measured is not printed.
    names = filter(installed_version, dict.fromkeys((*with_role("patched"), *oldest)))
    wanted = (f"{name}>={oldest[name]}" if name in oldest else name for name in names)
    yield Step(
        f"For {plural(len(untested), 'bug')} the installed versions ({versions}) are "
        "older than any that was measured: patchkit does not change them. This looks for the "
        "bugs; newer versions were measured.",
        ("patchkit verify --everywhere", f"pip install -U {shlex.join(wanted)}"),
    )


def _left_out(left_out: list[PatchRecord]) -> Iterator[SectionRow]:
    if left_out:
        yield SectionRow("switched off", f"by {DISABLE_VARIABLE}: {_names(left_out)}")


def _broken_steps(broken: list[PatchRecord]) -> Iterator[Step]:
    for record in broken:
        todo = f"{record.advice[:1].upper()}{record.advice[1:]}"
        yield Step(f"A patch cannot be read: {_reason(record)}. {todo}.", wrong=True)


def _troubled(troubled: list[PatchRecord]) -> Iterator[SectionRow | Step]:
    if not troubled:
        return
    text = f"{_names(troubled)}: {_reason(troubled[0])}"
    yield SectionRow("in trouble", text, alarming=True)
    reasons: dict[str, list[str]] = {}
    reported = installed_libraries()
    for record in troubled:
        error = record.error
        if not (isinstance(error, UnreadableVersion) and error.library in reported):
            reasons.setdefault(_reason(record), []).append(record.id)
    for reason, ids in reasons.items():
        yield Step(f"Patches are not applied here: {reason} ({short_list(ids)}).", wrong=True)
