"""Describe the device that trains, and probe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hardware:
    """The device that trains.

    Args:
        type: as in `torch.device`: `cpu`, `cuda`, `mps` and so on.
        name: its name, such as `Tesla T4`.
        capability: CUDA's compute capability; None on other devices.
        bfloat16: whether it computes in bfloat16 natively. PyTorch emulates it on older GPUs.
    """

    type: str
    name: str = ""
    capability: tuple[int, int] | None = None
    bfloat16: bool = True

    def __str__(self) -> str:
        capability = self.capability and "capability {}.{}".format(*self.capability)
        details = ", ".join(filter(None, [self.name, capability]))
        return f"{self.type} ({details})" if details else self.type


def probe(device: Any) -> Hardware:
    """Return the capabilities of a device.

    bfloat16 came to NVIDIA's GPUs with compute capability 8.0; AMD's, which torch shows as CUDA
    too, have other numbers. `torch.cuda.is_bf16_supported()` counts emulation as support.
    """
    import torch

    if device.type != "cuda" or not torch.cuda.is_available():
        return Hardware(device.type)
    name = torch.cuda.get_device_name(device)
    if torch.version.hip:
        return Hardware("cuda", name)
    capability = torch.cuda.get_device_capability(device)
    return Hardware("cuda", name, capability, bfloat16=capability >= (8, 0))


def default_device() -> Any:
    """Return the `torch.device` that Accelerate chooses by default."""
    import torch

    for kind in ("cuda", "xpu", "npu", "mps"):
        for home in (torch, torch.backends):
            is_available = getattr(getattr(home, kind, None), "is_available", None)
            if is_available is not None and is_available():
                return torch.device(kind)
    return torch.device("cpu")
