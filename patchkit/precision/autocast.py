"""Tell whether autocast is on for a tensor, by a call or by an expression in rewritten code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def has_autocast(x: torch.Tensor) -> bool:
    """Tell whether the device of a tensor has autocast; meta, lazy and Vulkan devices do not.

    On such a device PyTorch raises when autocast is queried or turned off.
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
    """Return `is_autocast_on` of a variable as an expression that needs torch, but not patchkit."""
    device = f"{x}.device.type"
    known = f"{x}.is_cuda or {x}.is_cpu or torch.amp.is_autocast_available({device})"
    return f"(not {x}.is_meta and ({known}) and torch.is_autocast_enabled({device}))"
