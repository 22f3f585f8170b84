"""What files of models used for FlashAttention on an NPU."""

from __future__ import annotations

from typing import Any


def index_first_axis(states: Any, indices: Any) -> Any:
    """Return some rows of states, of whatever further dimensions."""
    return states[indices]
