"""The process that asks torch: what native code prints, and a torch that cannot be imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from patchkit.cli.doctor import probe, probing
from patchkit.environment import installed_version

PROBING = (sys.executable, "-m", "patchkit.cli.doctor.probing")


@pytest.mark.parametrize(
    ("torch", "expected"),
    [
        (
            "raise OSError('libcudart.so.12: no such file')",
            "OSError: libcudart.so.12: no such file",
        ),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os.write(1, b'noise'); raise ImportError('x')", "ImportError: x"),
    ],
)
def test_a_torch_that_cannot_be_imported(tmp_path: Path, monkeypatch, torch: str, expected) -> None:
    (tmp_path / "torch.py").write_text(torch)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    assert probe.probe(PROBING) == {"torch": {"error": expected}}


def test_a_torchvision_that_does_not_load(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('operator nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    assert probing._torchvision() == {"error": "RuntimeError: operator nms does not exist"}
    (tmp_path / "torchvision.py").write_text("VERSION = 'loads'")
    assert probing._torchvision() == {"error": ""}
    del sys.modules["torchvision"]


@pytest.mark.skipif(installed_version("torch") is None, reason="needs torch")
def test_the_torch_that_is_here() -> None:
    answers = probe.probe(PROBING)
    assert "ended" not in answers
    assert answers["torch"]["version"].startswith(installed_version("torch") or "")
    assert answers["devices"]
    for device in answers["devices"]:
        assert {device["float16"], device["bfloat16"]} <= {"native", "emulated", "works"}
    if installed_version("bitsandbytes"):
        assert answers["bitsandbytes"]["four_bit"] == "works"
