"""Try a cell on one side, without patchkit or with it, and keep the outcome."""

from __future__ import annotations

import logging
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from patchkit.text import shorten

from .limits import is_lack_of_memory, lack_of

_WIDTH = 200


@dataclass(frozen=True)
class Trial:
    """The outcome of trying a cell on one side.

    Args:
        step: the step that failed; empty if all worked.
        error: what it raised, in one line.
        figures: numbers that must be the same with patchkit and without, by name.
        seconds: how long it took.
        place: the line of a library that raised it; empty if no library did.
    """

    step: str = ""
    error: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    place: str = ""

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Trial:
        """Return what a fork answered: the fields, or that it died."""
        return cls("process", answer["message"]) if "outcome" in answer else cls(**answer)

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

    def __str__(self) -> str:
        return f"{self.step}: {self.error}" if self.step else "worked"


@dataclass
class TrialCourse:
    """An attempt: the step that it has come to, and the figures so far."""

    step: str
    figures: dict[str, Any] = field(default_factory=dict)


class OtherLogits(Exception):
    """The model no longer predicts what it predicted before."""


def attempt(
    course: TrialCourse, run: Callable[[], None], folders: Sequence[str], memory: float = 0
) -> dict[str, Any]:
    """Run an attempt quietly, and return the fields of a `Trial`.

    Args:
        course: is kept up to date by `run`.
        run: what is tried.
        folders: left out of errors.
        memory: GiB that this process may take in addition to what it has; 0 for no limit.
    """
    started = time.perf_counter()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    error = place = ""
    try:
        run()
    except Exception as reason:
        error, place = one_line(reason, memory), place_of(reason)
    for folder in folders:
        error = error.replace(folder, "…")
    return {
        "step": course.step if error else "",
        "error": error,
        "figures": course.figures,
        "seconds": round(time.perf_counter() - started, 2),
        "place": place,
    }


def one_line(error: BaseException, memory: float) -> str:
    """Return an error as a line that is the same in whichever folder it is raised."""
    if is_lack_of_memory(error):
        return lack_of(memory)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shorten(f"{type(error).__name__}: {' '.join(lines[:2])}".rstrip(": "), _WIDTH)


def place_of(error: BaseException) -> str:
    """Return the innermost line of a library other than PyTorch that raised an error.

    Returns:
        the file below `site-packages`, and the number of the line; empty if no library raised it.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename.replace(os.sep, "/").rpartition("/site-packages/")[2]
        if file != frame.filename and not file.startswith("torch/"):
            return f"{file}:{frame.lineno}"
    return ""


@contextmanager
def autocast(dtype: str) -> Iterator[None]:
    """Compute in the mixed precision `fp16` or `bf16` on a CPU; as it is for an empty name."""
    import torch

    dtypes = {"fp16": torch.float16, "bf16": torch.bfloat16}
    chosen = dtypes.get(dtype)
    with torch.autocast("cpu", chosen or torch.bfloat16, enabled=chosen is not None):
        yield
