"""What a reproducer may need of a machine, by name, and whether this one has it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Requirement:
    """One thing that not every machine has.

    Args:
        name: as in `Patch(requires=…)`.
        what: what it is, for a sentence.
        is_met: tells whether this machine has it.
    """

    name: str
    what: str
    is_met: Callable[[], bool]

    @property
    def outcome(self) -> str:
        """The outcome of a reproducer where it is absent."""
        return f"needs-{self.name}"


def missing(names: Iterable[str]) -> list[Requirement]:
    """Return what this machine lacks.

    Args:
        names: of requirements.
    """
    return [REQUIREMENTS[name] for name in names if not REQUIREMENTS[name].is_met()]


def described(requirements: Iterable[Requirement]) -> str:
    """Return what all of them are, for a sentence."""
    return " and ".join(requirement.what for requirement in requirements)


def _reaches_cuda() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def _has_avx512_bf16() -> bool:
    """Tell whether programs can use VDPBF16PS and VCVTNE2PS2BF16.

    Linux names an instruction set only where it saves the registers too, as the CPUID of a
    compiler's run time has it, which bitsandbytes asks; reading that takes no library. Elsewhere
    only CPUID knows, and torch asks it.
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
    ask = getattr(torch.cpu, f"_is_{instructions}_supported", None)  # before torch had the other
    return bool(ask and ask())


REQUIREMENTS = {
    requirement.name: requirement
    for requirement in (
        Requirement("cuda", "a GPU", _reaches_cuda),
        Requirement("avx512-bf16", "a CPU with AVX512-BF16", _has_avx512_bf16),
    )
}
"""All that a reproducer can say it needs."""
