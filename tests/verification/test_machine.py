"""What a machine has, as far as reproducers ask."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from patchkit.patch import REQUIREMENTS
from patchkit.verification import machine


def has_avx512_bf16() -> bool:
    return machine.PROBES["avx512-bf16"]()


INTEL = "processor\t: 0\nmodel name\t: X\nflags\t\t: fpu avx2 avx512f avx512_bf16 amx_tile\n\n"


def test_names_and_outcomes() -> None:
    assert {name: requirement.outcome for name, requirement in REQUIREMENTS.items()} == {
        "cuda": "needs-cuda",
        "avx512-bf16": "needs-avx512-bf16",
    }


def test_each_requirement_is_looked_for() -> None:
    assert machine.PROBES.keys() == REQUIREMENTS.keys()


def test_missing_and_described(monkeypatch) -> None:
    for name, met in {"cuda": False, "avx512-bf16": True}.items():
        monkeypatch.setitem(machine.PROBES, name, lambda met=met: met)
    assert [
        requirement.name for requirement in machine.missing_requirements(["avx512-bf16", "cuda"])
    ] == ["cuda"]
    assert machine.missing_requirements(["avx512-bf16"]) == machine.missing_requirements([]) == []
    assert machine.description(REQUIREMENTS.values()) == "a GPU and a CPU with AVX512-BF16"


LINUX = {
    "Sapphire Rapids": ("x86_64", INTEL, True),
    "Skylake": ("x86_64", INTEL.replace(" avx512_bf16", ""), False),
    "Haswell": ("x86_64", INTEL.replace(" avx512f avx512_bf16", ""), False),
    # Words of another line, and a longer name.
    "a model's name": ("x86_64", "model name\t: avx512_bf16\nflags\t: avx2 avx512_bf16x\n", False),
    "ARM": ("aarch64", "Features\t: fp asimd bf16\nflags\t: avx512_bf16\n", False),
}


@pytest.mark.parametrize("name", LINUX)
def test_linux_asks_the_kernel(monkeypatch, tmp_path: Path, name: str) -> None:
    architecture, text, expected = LINUX[name]
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: architecture)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setitem(sys.modules, "torch", None)  # which would raise where it is imported
    assert has_avx512_bf16() is expected


class Torch:
    """What of torch is asked."""

    def __init__(self, cpu: object) -> None:
        self.cpu = cpu


class New:
    def __init__(self, *, has: bool) -> None:
        self.get_capabilities = lambda: {"avx2": True, "avx512_bf16": has}


class Old:
    def __init__(self, *, has: bool) -> None:
        self._is_avx512_bf16_supported = lambda: has


ELSEWHERE = {
    "Windows": ("win32", "AMD64", New(has=True), True),
    "Windows without": ("win32", "AMD64", New(has=False), False),
    "Windows, torch of old": ("win32", "AMD64", Old(has=True), True),
    "Windows, torch of old, without": ("win32", "AMD64", Old(has=False), False),
    "Windows, torch that cannot say": ("win32", "AMD64", object(), False),
    "Windows on ARM": ("win32", "ARM64", New(has=True), False),
    "macOS on Intel": ("darwin", "x86_64", New(has=False), False),
    "macOS on ARM": ("darwin", "arm64", New(has=True), False),
    "Linux that hides its CPU": ("linux", "x86_64", New(has=True), True),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_elsewhere_torch_is_asked(monkeypatch, tmp_path: Path, name: str) -> None:
    system, architecture, cpu, expected = ELSEWHERE[name]
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "no such file")
    monkeypatch.setattr("platform.machine", lambda: architecture)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setitem(sys.modules, "torch", Torch(cpu))
    assert has_avx512_bf16() is expected


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_without_torch(monkeypatch, name: str) -> None:
    monkeypatch.setattr(machine, "_CPUINFO", Path("no such file"))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert machine.PROBES[name]() is False


def test_torch_finds_the_same_here() -> None:
    torch = pytest.importorskip("torch")
    assert has_avx512_bf16() is machine._torch_finds("avx512_bf16")
    assert machine.PROBES["cuda"]() is torch.cuda.is_available()


def test_asking_linux_imports_no_library(fresh) -> None:
    if sys.platform != "linux":
        pytest.skip("elsewhere torch is asked")
    loaded = fresh(
        """
        import sys
        from patchkit.verification.machine import missing_requirements
        missing_requirements(["avx512-bf16"])
        result = [name for name in ("torch", "numpy", "bitsandbytes") if name in sys.modules]
        """
    )
    assert loaded == []
