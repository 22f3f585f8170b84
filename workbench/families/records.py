"""Define the records of a sweep, each a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass

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
class ModelSubject:
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

    subject: ModelSubject
    error: str = ""
    parameters: int = 0
    inputs: str = "text"


@dataclass(frozen=True)
class FamilyCell:
    """One combination to try.

    Args:
        subject: the model type.
        mode: the name of a mode.
        method: the name of a method.
    """

    subject: ModelSubject
    mode: str
    method: str
