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
        frozenset(
            {
                "losses",
                "gradient norms",
                "logits to predict",
                "logits to reload",
                "words",
                "logits to merge",
                "distance after merge",
            }
        ),
        "peft-quantized-output-dtype: the layers return bfloat16, as its caution says; PEFT does "
        "not ask about the autocast of a CPU",
        modes="bf16/4bit",
        methods="road",
    ),
)
_NO_SUCH_LAYER = "PEFT computes with the packed weight: it has no layer of this method for 4-bit"
REASONS: tuple[Reason, ...] = (
    Reason("The required package 'scipy' is not installed", "scipy was not installed"),
    Reason("task_ids should not be None", "Poly wants to be told the task of each row"),
    Reason("Please initialize PiSSA under", "PEFT splits no packed weights"),
    Reason("Cannot merge ia3 layers", "PEFT refuses"),
    Reason(
        "'tuple' object has no attribute 'dtype'",
        "`all-linear` puts LoRA on a router, which returns a tuple",
    ),
    Reason(
        "Unrecognized configuration class",
        "saved is the configuration of the text part, which this class does not load",
    ),
    Reason("is incompatible with Mamba-based models", "PEFT refuses what its `all-linear` names"),
    Reason("Expected a floating point or complex tensor as input. Got Byte", _NO_SUCH_LAYER),
)


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
