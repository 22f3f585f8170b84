"""AdaLoRA without a number of steps."""

from __future__ import annotations

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings


def steps_to_come(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Give a number of steps where none is given.

    Ranks changed only where a script said the number afterwards, which it still can.
    """
    if call.arguments.get("total_step") is not None:
        return
    least = (call.arguments.get("tinit") or 0) + (call.arguments.get("tfinal") or 0) + 1
    call.arguments["total_step"] = least
    call.fix(
        row,
        f"{call.name} without total_step=",
        "write total_step=…, the number of steps; without it ranks stay as they are",
    )
