"""Blocks of OFT, counted or sized."""

from __future__ import annotations

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings


def counted(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Give no size of blocks beside their number, as when none was the default."""
    number = call.arguments.get("r")
    if number and "oft_block_size" not in call.arguments:
        call.arguments["oft_block_size"] = 0
        call.fix(row, f"{call.name}(r=)", f"write r={number}, oft_block_size=0")
