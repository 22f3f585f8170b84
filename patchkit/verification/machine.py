"""Probe this machine for what reproducers need, and describe it for the matrix."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from ..environment import python_and_platform
from ..matrix.lookup import installed_versions
from ..matrix.records import Environment
from ..patch import REQUIREMENTS, Requirement

_CPUINFO = Path("/proc/cpuinfo")
_NVIDIA = ("/dev/nvidiactl", "/dev/dxg")
"""What drivers provide on Linux, and on Linux inside Windows."""


def missing_requirements(names: Iterable[str]) -> list[Requirement]:
    """Return the named requirements that this machine does not meet."""
    return [REQUIREMENTS[name] for name in names if not PROBES[name]()]


def description(requirements: Iterable[Requirement]) -> str:
    """Return the requirements in words, for a sentence."""
    return " and ".join(requirement.what for requirement in requirements)


def _reaches_cuda() -> bool:
    """Tell whether torch is installed and can use a GPU of NVIDIA."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def _has_avx512_bf16() -> bool:
    """Tell whether programs can use VDPBF16PS and VCVTNE2PS2BF16.

    Linux lists an instruction set only if it saves the registers too, which matches the compiler
    run time's CPUID check that bitsandbytes uses, and takes no library to read. Elsewhere only
    CPUID knows, and torch asks it.
    """
    import platform

    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    if sys.platform == "linux":
        try:
            lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            pass
        else:
            return any("avx512_bf16" in line.split() for line in lines if line.startswith("flags"))
    return _torch_finds("avx512_bf16")


def _torch_finds(instructions: str) -> bool:
    try:
        import torch
    except ImportError:
        return False
    if ask := getattr(torch.cpu, "get_capabilities", None):
        return bool(ask().get(instructions))
    ask = getattr(torch.cpu, f"_is_{instructions}_supported", None)  # older torch
    return bool(ask and ask())


def may_have_cuda() -> bool:
    """Tell whether a GPU of NVIDIA is attached; torch, which need not see it, is not imported."""
    return any(map(os.path.exists, _NVIDIA))


PROBES: dict[str, Callable[[], bool]] = {"cuda": _reaches_cuda, "avx512-bf16": _has_avx512_bf16}
"""A test of this machine for each requirement, by its name."""


def environment() -> Environment:
    """Return the environment of measurements made in this process today."""
    from ..engine.session import SESSION

    return Environment(
        versions=installed_versions(
            library for entry in SESSION.catalogue for library in entry.patch.affects
        ),
        **python_and_platform(),
        device=_device(),
        date=datetime.date.today().isoformat(),
    )


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "cpu"
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
