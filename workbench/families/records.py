"""What was tried, and what came of it, as data that a line of JSON holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: What is done with a model, in this order.
STEPS = (
    "load",
    "adapt",
    "prepare",
    "forward",
    "backward",
    "step",
    "predict",
    "save",
    "reload",
    "generate",
    "merge",
)


@dataclass(frozen=True)
class Subject:
    """A model type in the class of a task.

    Args:
        task: `causal`, `seq2seq`, `classification` or `vision`.
        type: as configurations name it, such as `llama`.
    """

    task: str
    type: str


@dataclass(frozen=True)
class Build:
    """A tiny checkpoint of a model type, or why there is none.

    Args:
        subject: the model type.
        error: why it could not be built; empty if it was.
        parameters: number of its parameters.
        inputs: what it was fed: `text`, or `image and text`.
    """

    subject: Subject
    error: str = ""
    parameters: int = 0
    inputs: str = "text"


@dataclass(frozen=True)
class Cell:
    """What is tried at once.

    Args:
        subject: the model type.
        mode: the name of a mode.
        method: the name of a method.
    """

    subject: Subject
    mode: str
    method: str


@dataclass(frozen=True)
class Trial:
    """What came of a cell.

    Args:
        step: the step that failed; empty if all worked.
        error: what it raised, in one line.
        figures: numbers that must be the same with patchkit and without, by name.
        seconds: how long it took.
    """

    step: str = ""
    error: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def worked(self) -> bool:
        return not self.step

    @property
    def untried(self) -> bool:
        """Whether it could not be tried: a library is missing, or there are no such checkpoints."""
        return self.error.startswith("Untried: ")

    @property
    def limited(self) -> bool:
        """Whether it ended at a limit that the sweep sets."""
        return self.error.startswith(("needs more than ", "took more than "))
