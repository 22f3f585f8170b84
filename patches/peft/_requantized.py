"""The attributes of a 4-bit weight that is to be quantized again."""

from __future__ import annotations

from typing import Any


def to_be_quantized(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `Params4bit` that bitsandbytes quantizes when it is moved.

    Args:
        attributes: those of the 4-bit weight that is replaced; they stay as they are.

    Returns:
        a copy of them that says that nothing is quantized yet. What other libraries keep there,
        such as Transformers' `_is_hf_initialized`, is left out, since not every release of
        bitsandbytes accepts it.
    """
    public = {name: value for name, value in attributes.items() if not name.startswith("_")}
    return {**public, "bnb_quantized": False}
