"""Define the records of a sweep with two ranks, each a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass

from ..sweep import journal

SCHEMA = "ranks 1"
#: What the ranks do, in this order; the last in a process of its own, without patchkit.
STEPS = ("build", "prepare", "forward", "backward", "step", "predict", "save", "reload")


@dataclass(frozen=True)
class RankCell:
    """One combination to try.

    Args:
        strategy: the name of a strategy.
        trainer: the short name of a trainer, such as `sft`.
        mode: the name of a mode.
        method: `lora` or `full`.
    """

    strategy: str
    trainer: str
    mode: str
    method: str


class RankJournal(journal.SweepJournal[RankCell]):
    """The results of a sweep of strategies."""

    schema = SCHEMA
    cell = RankCell
