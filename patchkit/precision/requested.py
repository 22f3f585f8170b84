"""The dtype that the user asked to train in."""

from __future__ import annotations

from typing import Any

from ..settings import requested_dtype


def training_dtype(args: Any) -> str | None:
    """Return the name of the dtype to train in, or None if none was requested.

    Args:
        args: training arguments, or anything with `fp16` and `bf16`.

    Returns:
        what `apply(dtype=…)` was given, else `float16` or `bfloat16` as the arguments say.
    """
    requested = requested_dtype()
    if requested is not None:
        return requested
    if getattr(args, "bf16", False):
        return "bfloat16"
    if getattr(args, "fp16", False):
        return "float16"
    return None
