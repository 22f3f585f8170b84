"""Define the outcomes of a reproducer and the states of a scan, a row each."""

from __future__ import annotations

from dataclasses import dataclass

from ..patch import REQUIREMENTS


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """One way a patch's reproducer can end.

    Args:
        name: in JSON and in the matrix.
        meaning: for the matrix.
        cell: the state of its cell when the matrix is shown.
        shows_bug: whether the bug showed; None if that is unknown.
        due: whether the patch claims the installed versions.
        words: for the table of `verify`.
        style: for rich; empty if that table leaves it out.
        exit_status: of `verify`; 1 goes before 2.
    """

    name: str
    meaning: str
    cell: str
    shows_bug: bool | None = None
    due: bool = True
    words: str = ""
    style: str = ""
    exit_status: int = 0


@dataclass(frozen=True, kw_only=True)
class ScanState:
    """One verdict that the sources of a release allow on a patch.

    Args:
        name: in JSON and in the matrix.
        meaning: for the matrix.
        cell: as for `RunOutcome`.
        shows_bug: whether the buggy code is there; None if that is unknown.
        style: for rich, if it is trouble; else empty.
    """

    name: str
    meaning: str
    cell: str
    shows_bug: bool | None = None
    style: str = ""


# Worst first, as `verify` shows them.
OUTCOME_TABLE = (
    RunOutcome(
        name="not-fixed",
        meaning="the bug showed even with the patch",
        cell="fails",
        shows_bug=True,
        words="reproduced, NOT fixed",
        style="bold red",
        exit_status=1,
    ),
    RunOutcome(
        name="made-worse",
        meaning="no bug showed without the patch, and with it the reproducer failed",
        cell="fails",
        words="no bug, and the patch makes one",
        style="bold red",
        exit_status=1,
    ),
    RunOutcome(
        name="error",
        meaning="the reproducer failed without the patch, but not with this bug",
        cell="error",
        words="fails for another reason",
        style="bold red",
        exit_status=1,
    ),
    RunOutcome(
        name="not-reproduced",
        meaning="claimed, but no bug showed without the patch: it may be fixed upstream",
        cell="attention",
        shows_bug=False,
        words="not reproduced here: it may be fixed upstream",
        style="bold yellow",
        exit_status=2,
    ),
    RunOutcome(
        name="present",
        meaning="not claimed, but the bug showed: the patch claims too little",
        cell="attention",
        shows_bug=True,
        due=False,
        words="not claimed, but the bug shows",
        style="bold yellow",
    ),
    *(
        RunOutcome(
            name=requirement.outcome,
            meaning=f"claimed, but the reproducer needs {requirement.what}",
            cell="needs",
            style="yellow",
        )
        for requirement in REQUIREMENTS.values()
    ),
    RunOutcome(
        name="fixed",
        meaning="the bug showed without the patch, and not with it",
        cell="fixed",
        shows_bug=True,
        words="reproduced, fixed",
        style="green",
    ),
    RunOutcome(
        name="absent",
        meaning="not claimed, and no bug showed",
        cell="absent",
        shows_bug=False,
        due=False,
        words="not claimed, and no bug shows",
        style="dim",
    ),
    RunOutcome(
        name="not-affected",
        meaning="not claimed, and the reproducer did not or could not run",
        cell="not-due",
        due=False,
    ),
)
SCAN_TABLE = (
    ScanState(
        name="matches",
        meaning="claimed, and every target matches, compiles and keeps its postcondition",
        cell="matches",
        shows_bug=True,
    ),
    ScanState(
        name="drifted",
        meaning="claimed, but a target is not as expected",
        cell="attention",
        style="bold red",
    ),
    ScanState(
        name="absent",
        meaning="not claimed, and the buggy code is not there",
        cell="read-absent",
        shows_bug=False,
    ),
    ScanState(
        name="present",
        meaning="not claimed, but the buggy code is there: the patch claims too little",
        cell="attention",
        shows_bug=True,
        style="bold yellow",
    ),
    ScanState(
        name="harmless",
        meaning="the buggy code is there, but known to do no harm in this release",
        cell="read-absent",
        shows_bug=False,
    ),
    ScanState(
        name="no-anchor",
        meaning="not claimed, and no code to look for: the patch only wraps",
        cell="not-due",
    ),
)

OUTCOMES = {outcome.name: outcome.meaning for outcome in OUTCOME_TABLE}
STATES = {state.name: state.meaning for state in SCAN_TABLE}

NEEDS = frozenset(requirement.outcome for requirement in REQUIREMENTS.values())
NOT_DUE = frozenset(outcome.name for outcome in OUTCOME_TABLE if not outcome.due)
SHOWS_THE_BUG = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.shows_bug)
SHOWS_NO_BUG = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.shows_bug is False)
TELLS = SHOWS_THE_BUG | SHOWS_NO_BUG
EXIT_STATUSES = {outcome.name: outcome.exit_status for outcome in OUTCOME_TABLE}
