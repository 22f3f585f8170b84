"""`patchkit cache`: where results of rewrites are kept, and deleting them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from patchkit.cli.commands import main
from patchkit.cli.doctor import kept
from patchkit.engine.kept import FOLDER, KeptResults


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setenv("PATCHKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / FOLDER


def invoke(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["cache", *arguments])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def keep() -> None:
    results = KeptResults()
    results.keep_plan(invoke.__code__, "a rule", [])
    results.write()


def test_what_is_kept_is_said_and_deleted(folder: Path) -> None:
    assert invoke().startswith("Nothing is kept yet; it will be in ")
    keep()
    assert invoke().startswith(f"1 result of rewrites are kept, 1 kB, in {folder}{os.sep}")
    assert kept.check().facts == {"results": 1, "reason": ""}
    assert invoke("clear") == "1 file deleted."
    assert list(folder.iterdir()) == []
    assert invoke("clear") == "0 files deleted."


def test_why_nothing_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert "Python keeps no bytecode either" in invoke()
    monkeypatch.setenv("PATCHKIT_CACHE", "off")
    assert "PATCHKIT_CACHE is off" in invoke()
    assert "PATCHKIT_CACHE is off" in kept.check().facts["reason"]
    assert invoke("clear") == "0 files deleted."
    assert not Path("off").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is closed to root")
def test_what_cannot_be_deleted(folder: Path) -> None:
    keep()
    folder.chmod(0o500)
    done = CliRunner().invoke(main, ["cache", "clear"])
    folder.chmod(0o700)
    assert done.exit_code == 1
    assert "cannot be deleted" in done.output
