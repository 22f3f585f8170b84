"""`python -m workbench` and `python CHECKOUT/workbench`: every program, from any folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import ROOT
from workbench.__main__ import PROGRAMS

from ..processes import run_python


@pytest.mark.parametrize("program", PROGRAMS)
def test_help(run_workbench, tmp_path: Path, program: str) -> None:
    done = run_workbench(*program.split(), "--help", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m workbench {program} [-h]")


@pytest.mark.parametrize("tool", [[], ["no-such-tool"]])
def test_no_tool(run_workbench, tmp_path: Path, tool: list[str]) -> None:
    done = run_workbench("reliability", *tool, folder=tmp_path)
    assert done.returncode == 64
    assert done.stdout.startswith("usage: python -m workbench reliability {inject,")


@pytest.mark.parametrize("flags", [[], ["-E"], ["-I"]])
def test_gpu_needs_no_package_and_has_the_patchkit_of_the_checkout(
    tmp_path: Path, flags: list[str]
) -> None:
    """Without site-packages, in a folder of traps, beside another patchkit."""
    (tmp_path / "here").mkdir()
    for name in ("click", "journal", "json", "patchkit", "workbench"):
        (tmp_path / "here" / f"{name}.py").write_text("raise RuntimeError('a trap')")
    folder = tmp_path / "elsewhere" / "patchkit"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('another')")
    program = ["-S", *flags, ROOT / "workbench", "gpu"]
    arguments = ["--parts", "machine", "--units", "patchkit", "--output", "gpu.json"]
    path = str(folder.parent)
    done = run_python(*program, *arguments, folder=tmp_path / "here", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "trap" not in done.stdout
    assert "another" not in done.stdout
    # Where torch is installed, a word on the device follows.
    assert any(line.startswith("wrote gpu.json") for line in done.stdout.splitlines())
