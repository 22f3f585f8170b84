"""What is known about differences and failures, so that a table can say why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .records import Cell, Trial


@dataclass(frozen=True)
class Explanation:
    """Why the numbers of some cells differ with patchkit.

    Args:
        figures: the figures that may differ.
        reason: why.
        modes: a glob of modes.
        types: a glob of model types.
        methods: a glob of methods.
    """

    figures: frozenset[str]
    reason: str
    modes: str = "*"
    types: str = "*"
    methods: str = "*"


@dataclass(frozen=True)
class Reason:
    """Why some cells fail with patchkit and without.

    Args:
        error: a part of the error.
        reason: why, and whose matter it is.
    """

    error: str
    reason: str


EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        frozenset({"logits to merge", "distance after merge"}),
        "bitsandbytes-cpu-inference-packing: weights that an evaluation has packed are unpacked "
        "before they are merged",
        modes="*/4bit",
    ),
)
REASONS: tuple[Reason, ...] = ()


def explanation(cell: Cell, figures: Collection[str]) -> str:
    """Return why these figures of a cell differ; empty if that is not known."""
    for known in EXPLANATIONS:
        if (
            known.figures.issuperset(figures)
            and fnmatchcase(cell.mode, known.modes)
            and fnmatchcase(cell.subject.type, known.types)
            and fnmatchcase(cell.method, known.methods)
        ):
            return known.reason
    return ""


def reason(trial: Trial) -> str:
    """Return why a trial fails; empty if that is not known."""
    return next((known.reason for known in REASONS if known.error in trial.error), "")
