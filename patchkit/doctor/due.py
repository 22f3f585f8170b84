"""What patchkit mends here, and which definitions it cannot read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .. import advice
from ..definitions import ENTRY_POINT_GROUP
from ..local_patches import PACKAGE as LOCAL_PACKAGE
from ..patch import Status
from ..patch_record import PatchRecord
from ..selection import DISABLE_VARIABLE
from ..session import SESSION
from ..status import DUE, TROUBLE
from ..wording import counted, listed
from .privacy import without_private_data
from .section import Row, Section, Step

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
    records = [one for one in SESSION.report() if not advice.is_unasked(one)]
    due = [one for one in records if one.status in DUE]
    left_out = [one for one in records if one.status is Status.DISABLED]
    troubled = [one for one in records if one.status in TROUBLE and one.affects]
    broken = [one for one in records if one.status is Status.FAILED and not one.affects]
    others = {"from others": _third_parties(), "your own": _local()}
    levels = Counter(one.tested.level for one in due)
    rows = [*_due_rows(due, levels), *_other_rows(left_out, troubled, broken, others)]
    facts = {
        "due": {one.id: one.tested.level for one in due},
        "switched_off": [one.id for one in left_out],
        "troubled": {one.id: without_private_data(one.reason) for one in troubled},
        "broken": [without_private_data(one.reason) for one in broken],
        "from_others": others["from others"],
        "your_own": others["your own"],
    }
    steps = (*_mend(due), *_broken(broken), *_troubled(troubled), *_measure(due))
    return Section(NAME, TITLE, tuple(rows), facts, steps)


def _third_parties() -> list[str]:
    """The distributions beside patchkit that ship patches."""
    from importlib import metadata

    points = metadata.entry_points(group=ENTRY_POINT_GROUP)
    return sorted({point.dist.name if point.dist else point.value for point in points})


def _local() -> list[str]:
    """The patches that a project keeps in a folder of its own."""
    prefix = f"{LOCAL_PACKAGE}."
    return [one.patch.id for one in SESSION.catalogue if one.module.startswith(prefix)]


def _due_rows(due: list[PatchRecord], levels: Counter[str]) -> Iterable[Row]:
    libraries = Counter(one.library for one in due)
    if not due:
        yield Row("due", "none")
        return
    yield Row("due", ", ".join(f"{name} {count}" for name, count in libraries.most_common()))
    for level, words in _LEVELS.items():
        if levels[level]:
            count = "all of them" if levels[level] == len(due) else str(levels[level])
            yield Row("", f"{count} {words}", alarming=level in ("none", "unknown"))


def _other_rows(
    left_out: list[PatchRecord],
    troubled: list[PatchRecord],
    broken: list[PatchRecord],
    others: dict[str, list[str]],
) -> Iterable[Row]:
    if left_out:
        names = listed((one.id for one in left_out), _SHOWN)
        yield Row("switched off", f"by {DISABLE_VARIABLE}: {names}")
    if troubled:
        names = listed((one.id for one in troubled), _SHOWN)
        yield Row("in trouble", f"{names}: {without_private_data(troubled[0].reason)}", True)
    for one in broken:
        yield Row("unreadable", without_private_data(one.reason), alarming=True)
    for label, given in others.items():
        if given:
            yield Row(label, listed(given, _SHOWN))


def _mend(due: list[PatchRecord]) -> tuple[Step, ...]:
    waiting = [one for one in due if one.status is Status.AVAILABLE]
    if not waiting:
        return ()
    libraries = listed(dict.fromkeys(f"{one.library} {one.version}" for one in waiting), _SHOWN)
    number = counted(len(waiting), "bug")
    return (
        Step(
            f"patchkit mends {number} of the installed libraries ({libraries}). Put this at the "
            "start of your script, or start it so:",
            ("import patchkit; patchkit.apply()", "patchkit run -- python train.py"),
        ),
    )


def _broken(broken: list[PatchRecord]) -> tuple[Step, ...]:
    return tuple(
        Step(
            f"A patch cannot be read: {without_private_data(one.reason)}. {_sentence(one)}",
            wrong=True,
        )
        for one in broken
    )


def _troubled(troubled: list[PatchRecord]) -> tuple[Step, ...]:
    reasons: dict[str, list[str]] = {}
    for one in troubled:
        reasons.setdefault(without_private_data(one.reason), []).append(one.id)
    return tuple(
        Step(f"Patches are not applied here: {reason} ({listed(ids)}).", wrong=True)
        for reason, ids in reasons.items()
    )


def _sentence(one: PatchRecord) -> str:
    text = advice.advice(one)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _measure(due: list[PatchRecord]) -> tuple[Step, ...]:
    """Patches that were never run on this version of the library are worth running."""
    new = [one.id for one in due if one.tested.level in ("scanned", "none", "unknown")]
    if not new:
        return ()
    number = "1 due patch was" if len(new) == 1 else f"{len(new)} due patches were"
    ids = " ".join(new) if len(new) <= 2 else ""
    return (
        Step(
            f"{number} never run on the installed versions. This runs the bugs here, each "
            "without its patch and with it; it takes minutes.",
            (f"patchkit verify {ids}".strip(),),
        ),
    )
