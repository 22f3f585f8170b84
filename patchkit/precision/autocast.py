"""Is autocast on for a tensor? As a call, and as an expression for rewritten code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def has_autocast(x: torch.Tensor) -> bool:
    """Tell whether the device of a tensor knows autocast; meta does not, and lazy, and Vulkan.

    PyTorch raises where autocast is asked about on such a device, or turned off.
    """
    import torch

    # torch.compile of early releases cannot trace the function.
    return not x.is_meta and (
        x.is_cuda or x.is_cpu or torch.amp.is_autocast_available(x.device.type)
    )


def is_autocast_on(x: torch.Tensor) -> bool:
    """Tell whether autocast is on for the device of a tensor."""
    import torch

    return has_autocast(x) and torch.is_autocast_enabled(x.device.type)


def spell_out_autocast(x: str) -> str:
    """Return `is_autocast_on` as an expression that fetches nothing of patchkit.

    Args:
        x: the variable that holds the tensor; `torch` has to be there too.
    """
    device = f"{x}.device.type"
    known = f"{x}.is_cuda or {x}.is_cpu or torch.amp.is_autocast_available({device})"
    return f"(not {x}.is_meta and ({known}) and torch.is_autocast_enabled({device}))"
