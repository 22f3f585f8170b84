"""The outcomes of a reproducer and the states of a scan: `outcomes.json` has a row for each."""

from __future__ import annotations

from dataclasses import dataclass

from ..about import shipped_table
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


_NEEDS = (
    {
        "name": requirement.outcome,
        "meaning": f"claimed, but the reproducer needs {requirement.what}",
        "cell": "needs",
        "style": "yellow",
    }
    for requirement in REQUIREMENTS.values()
)
_ROWS = shipped_table("matrix/outcomes.json")
# Worst first, as `verify` shows them.
OUTCOME_TABLE = tuple(
    RunOutcome(**row) for row in (*_ROWS["before_needs"], *_NEEDS, *_ROWS["after_needs"])
)
CELLS = _ROWS["cells"]
SCAN_TABLE = tuple(ScanState(**row) for row in _ROWS["scans"])

OUTCOMES = {outcome.name: outcome.meaning for outcome in OUTCOME_TABLE}
STATES = {state.name: state.meaning for state in SCAN_TABLE}

NEEDS = frozenset(requirement.outcome for requirement in REQUIREMENTS.values())
NOT_DUE = frozenset(outcome.name for outcome in OUTCOME_TABLE if not outcome.due)
SHOWS_THE_BUG = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.shows_bug)
SHOWS_NO_BUG = frozenset(outcome.name for outcome in OUTCOME_TABLE if outcome.shows_bug is False)
TELLS = SHOWS_THE_BUG | SHOWS_NO_BUG
EXIT_STATUSES = {outcome.name: outcome.exit_status for outcome in OUTCOME_TABLE}
