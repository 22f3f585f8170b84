"""The weight that a layer multiplies with by itself."""

from __future__ import annotations

from typing import Any

from patchkit.precision.quant_state import packed_values


def values(base: Any) -> Any:
    """Return the data of a base layer's weight; of one that bitsandbytes has packed, its values."""
    unpacked = packed_values(base)
    return base.weight.data if unpacked is None else unpacked
