"""Define the records of a sweep of frameworks, each a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass

from ..sweep import journal

SCHEMA = "frameworks 1"
#: What a training has come to when it fails, in this order.
STEPS = ("start", "training", "end")
#: How a command is started on the side with patchkit; `again` is a second time without.
WAYS = ("run", "legacy", "again")
EXCLUDE = "run --exclude "
"""What the way begins with that leaves out a patch; its id follows."""


@dataclass(frozen=True)
class FrameworkCell:
    """One training to try.

    Args:
        framework: the name of a framework.
        task: what is trained, such as `sft`.
        method: `lora` or `full`.
        mode: the name of a mode of `families`.
        way: one of `WAYS`, or `EXCLUDE` with the id of a patch.
    """

    framework: str
    task: str
    method: str
    mode: str
    way: str


class FrameworkJournal(journal.SweepJournal[FrameworkCell]):
    """The results of a sweep of frameworks."""

    schema = SCHEMA
    cell = FrameworkCell
