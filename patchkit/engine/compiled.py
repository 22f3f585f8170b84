"""Detect code that torch compiled before it was fixed.

`torch.compile` inlines what a model calls and does not look again whether its code is still the
same: what was compiled before a function was fixed runs the old code until it is compiled again.
"""

from __future__ import annotations

import sys
from typing import Any

ADVICE = "what torch.compile compiled before runs the old code until torch.compiler.reset()"


def compiled_frames() -> list[Any]:
    """Return what torch keeps of each frame that it has compiled; nothing is imported."""
    frames = getattr(sys.modules.get("torch._dynamo.convert_frame"), "input_codes", None)
    codes = getattr(frames, "seen", None)
    return list(codes) if isinstance(codes, list) else []


def has_any_left(frames: list[Any]) -> bool:
    """Tell whether torch still keeps any of these frames."""
    current = set(map(id, compiled_frames())) if frames else set()
    return any(id(frame) in current for frame in frames)
