"""Judge the trials of cells, and arrange them for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..sweep.grid import GridResults
from ..sweep.verdicts import CellVerdict, judge_trials
from .known import LEFT_OUT, OLDER, cause, explanation
from .records import EXCLUDE, SCHEMA, STEPS, FrameworkCell, FrameworkJournal
from .sweep import FrameworkSelection
from .tried import FRAMEWORKS

_SAID = "patchkit: "
"""What its lines begin with; those of `patchkit run` itself only count."""


@dataclass(frozen=True)
class FrameworkResults(GridResults[FrameworkCell]):
    """The results of a selection of frameworks.

    Args:
        versions: of each framework, those of its distributions.
    """

    schema = SCHEMA
    cell = FrameworkCell
    row_fields = ("framework", "task", "method")
    column_fields = ("mode", "way")
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def why(self, verdict: CellVerdict[FrameworkCell]) -> str:
        """Return why a cell has its verdict; empty if that is not known."""
        if verdict.outcome.name != "fails":
            return verdict.note
        legacy = replace(verdict.cell, way="legacy")
        for other in self.verdicts:
            if other.cell == legacy and other.with_patchkit.worked:
                return OLDER
        return cause(verdict.with_patchkit.error)

    def said(self) -> dict[str, list[str]]:
        """Return what patchkit says in trainings of each framework, each line once."""
        lines: dict[str, dict[str, None]] = {}
        for verdict in self.verdicts:
            for line in verdict.with_patchkit.figures.get("told", ()):
                if line.startswith(_SAID):
                    kept = lines.setdefault(verdict.cell.framework, {})
                    kept[line.removeprefix(_SAID)] = None
        return {name: list(kept) for name, kept in lines.items()}

    def to_dict(self) -> dict[str, Any]:
        versions = {name: dict(found) for name, found in self.versions.items()}
        return {**super().to_dict(), "versions": versions}


def results(
    journals: Sequence[FrameworkJournal], selection: FrameworkSelection
) -> FrameworkResults:
    """Judge what journals have of a selection; each comes from the environment of a set."""
    verdicts: list[CellVerdict[FrameworkCell]] = []
    versions: dict[str, dict[str, str]] = {}
    for cell in selection.cells():
        journal = next((journal for journal in journals if journal.has(cell)), None)
        if journal is None:
            continue
        verdicts.append(_judge(journal, cell))
        measured = journal.environment["versions"]
        names = (*FRAMEWORKS[cell.framework].distributions, "bitsandbytes", "torch")
        versions[cell.framework] = {name: measured[name] for name in names if measured.get(name)}
    environments = [journal.environment for journal in journals if journal.environment]
    environment = dict(max(environments, key=lambda found: found["date"])) if environments else {}
    if environment:
        environment["versions"] = {"patchkit": environment["versions"]["patchkit"]}
    return FrameworkResults(environment, tuple(verdicts), versions)


def _judge(journal: FrameworkJournal, cell: FrameworkCell) -> CellVerdict[FrameworkCell]:
    without, with_patchkit = (journal.trials[cell, patched] for patched in (False, True))
    again = journal.trials.get((replace(cell, way="again"), True))
    excluded = {
        patches: journal.trials[left_out, True]
        for patches in LEFT_OUT
        if journal.has(left_out := replace(cell, way=f"{EXCLUDE}{patches}"))
    }
    return judge_trials(
        cell,
        without,
        with_patchkit,
        steps=STEPS,
        explain=lambda other: explanation(without, again, excluded),
    )
