"""What comes of a patch whose reproducer is run, and what sources say of one: a row for each."""

from __future__ import annotations

from dataclasses import dataclass

from ..patch import REQUIREMENTS


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What comes of a patch whose reproducer is run.

    Args:
        name: as JSON and the matrix have it.
        meaning: for the matrix.
        cell: the name of the state that a cell of a shown matrix has.
        shows_bug: whether the bug showed; None where that cannot be told.
        due: whether the patch claims the installed versions.
        words: for the table of `verify`.
        style: for rich; empty where that table leaves it out.
        exit_status: of `verify`; 1 goes before 2.
        noted: whether the matrix keeps what happened, in one line.
    """

    name: str
    meaning: str
    cell: str
    shows_bug: bool | None = None
    due: bool = True
    words: str = ""
    style: str = ""
    exit_status: int = 0
    noted: bool = False


@dataclass(frozen=True, kw_only=True)
class ScanState:
    """What the sources of a release say of a patch.

    Args:
        name: as JSON and the matrix have it.
        meaning: for the matrix.
        cell: as for `Outcome`.
        shows_bug: whether code with the bug stands there; None where that cannot be told.
        style: for rich, where it is trouble; else empty.
    """

    name: str
    meaning: str
    cell: str
    shows_bug: bool | None = None
    style: str = ""


# Worst first, as `verify` shows them.
OUTCOME_TABLE = (
    Outcome(
        name="not-mended",
        meaning="the bug showed with the patch too",
        cell="fails",
        shows_bug=True,
        words="reproduced, NOT mended",
        style="bold red",
        exit_status=1,
        noted=True,
    ),
    Outcome(
        name="error",
        meaning="the reproducer failed for another reason than the bug",
        cell="error",
        words="fails for another reason",
        style="bold red",
        exit_status=1,
        noted=True,
    ),
    Outcome(
        name="not-reproduced",
        meaning="due, but no bug showed without the patch: it may be fixed upstream",
        cell="attention",
        shows_bug=False,
        words="not reproduced here: it may be fixed upstream",
        style="bold yellow",
        exit_status=2,
        noted=True,
    ),
    Outcome(
        name="present",
        meaning="not due, and the bug showed all the same: the patch claims too little",
        cell="attention",
        shows_bug=True,
        due=False,
        words="not due, and the bug shows",
        style="bold yellow",
        noted=True,
    ),
    *(
        Outcome(
            name=requirement.outcome,
            meaning=f"due, but the reproducer needs {requirement.what}",
            cell="needs",
            style="yellow",
        )
        for requirement in REQUIREMENTS.values()
    ),
    Outcome(
        name="mended",
        meaning="the bug showed without the patch and not with it",
        cell="mended",
        shows_bug=True,
        words="reproduced, mended",
        style="green",
    ),
    Outcome(
        name="absent",
        meaning="not due, and no bug showed",
        cell="absent",
        shows_bug=False,
        due=False,
        words="not due, and no bug shows",
        style="dim",
    ),
    Outcome(
        name="not-affected",
        meaning="not due, and the reproducer was not run or could not be",
        cell="not-due",
        due=False,
    ),
)
SCAN_TABLE = (
    ScanState(
        name="matches",
        meaning="due, and each target matches, compiles and keeps its postcondition",
        cell="matches",
        shows_bug=True,
    ),
    ScanState(
        name="drifted",
        meaning="due, and a target is not as expected",
        cell="attention",
        style="bold red",
    ),
    ScanState(
        name="absent",
        meaning="not due, and no site is there",
        cell="read-absent",
        shows_bug=False,
    ),
    ScanState(
        name="present",
        meaning="not due, and a site is there: the patch claims too little",
        cell="attention",
        shows_bug=True,
        style="bold yellow",
    ),
    ScanState(
        name="harmless",
        meaning="a site is there that is known to do no harm in this release",
        cell="read-absent",
        shows_bug=False,
    ),
    ScanState(
        name="no-anchor",
        meaning="not due, and nothing to look for: the patch only wraps",
        cell="not-due",
    ),
)

OUTCOMES = {outcome.name: outcome.meaning for outcome in OUTCOME_TABLE}
STATES = {state.name: state.meaning for state in SCAN_TABLE}

NEEDS = frozenset(requirement.outcome for requirement in REQUIREMENTS.values())
NOT_DUE = frozenset(outcome.name for outcome in OUTCOME_TABLE if not outcome.due)
NOTED = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.noted)
SHOWS_THE_BUG = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.shows_bug)
SHOWS_NO_BUG = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.shows_bug is False)
TELLS = SHOWS_THE_BUG | SHOWS_NO_BUG
EXIT_STATUSES = {outcome.name: outcome.exit_status for outcome in OUTCOME_TABLE}
