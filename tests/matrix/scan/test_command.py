"""`patchkit matrix scan`: exit status, what is printed, what is recorded, two at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from patchkit.cli import main
from patchkit.matrix.file import read, write
from patchkit.matrix.records import Matrix, Scan

from ...processes import python_path, run
from .conftest import write_wheel

WELL = {
    "accelerator": "class Accelerator:\n    def prepare(self, *args): ...\n"
    "    def prepare_optimizer(self, optimizer): ...\n",
    "optimizer": "class AcceleratedOptimizer:\n    def step(self, closure=None): ...\n",
}
STATES = {"accelerate-fused-step-skipped": "matches", "accelerate-gradscaler-guard": "matches"}
OLD = Scan("accelerate", "1.9.0", "2026-01-01", STATES)


@pytest.fixture
def invoke(tmp_path: Path):
    def run(*arguments: str) -> Result:
        where = ["--cache", str(tmp_path / "cache"), "--file", str(tmp_path / "matrix.yaml")]
        command = ["matrix", "scan", *where, "--jobs", "1", *arguments]
        return CliRunner().invoke(main, command, prog_name="patchkit")

    return run


def test_all_is_well(tmp_path: Path, invoke) -> None:
    write_wheel(tmp_path, WELL, "1.15.0", "accelerate")
    write(tmp_path / "matrix.yaml", Matrix(scans=(OLD,)))
    result = invoke("--from", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == ["accelerate", "1", "release:", "2", "matches"]
    assert result.stderr == ""
    old, new = read(tmp_path / "matrix.yaml").scans
    assert old == OLD
    assert (new.version, new.states) == ("1.15.0", OLD.states)


def test_of_one_patch_leaves_what_is_known_of_others(tmp_path: Path, invoke) -> None:
    write_wheel(tmp_path, WELL, "1.9.0", "accelerate")
    states = {"another": "present", "accelerate-gradscaler-guard": "drifted"}
    notes = {"another": "there", "accelerate-gradscaler-guard": "gone", "*": "yanked"}
    old = Scan("accelerate", "1.9.0", "2026-01-01", states, notes, {"another": ["a:b"]})
    write(tmp_path / "matrix.yaml", Matrix(scans=(old,)))
    assert invoke("accelerate-*", "--from", str(tmp_path)).exit_code == 0
    (new,) = read(tmp_path / "matrix.yaml").scans
    assert new.states == {"another": "present", **STATES}
    assert new.notes == {"another": "there", "*": "yanked"}
    assert new.unlisted == {"another": ["a:b"]}
    (tmp_path / "accelerate-1.9.0-py3-none-any.whl").write_bytes(b"no wheel")
    assert invoke("accelerate-*", "--from", str(tmp_path)).exit_code == 3
    assert read(tmp_path / "matrix.yaml").scans == (new,)
    assert invoke("--from", str(tmp_path)).exit_code == 3
    assert read(tmp_path / "matrix.yaml").scans[0].problem


def test_drift(tmp_path: Path, invoke) -> None:
    drifted = WELL["accelerator"].replace("optimizer)", "optimizers)")
    for version in ("1.16.0", "1.17.0"):
        write_wheel(tmp_path, {"accelerator": drifted}, version, "accelerate")
    result = invoke("--from", str(tmp_path))
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "drifted accelerate 1.16.0 to 1.17.0, 2 releases accelerate-gradscaler-guard" in text
    assert "has no parameter optimizer any more" in text
    assert invoke("trl-*", "--from", str(tmp_path)).exit_code == 64


def test_what_was_not_scanned(tmp_path: Path, invoke) -> None:
    write_wheel(tmp_path, WELL, "1.15.0", "accelerate")
    (tmp_path / "accelerate-1.16.0-py3-none-any.whl").touch()
    result = invoke("--from", str(tmp_path), "--json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert [bool(scan["problem"]) for scan in found["scans"]] == [False, True]
    assert read(tmp_path / "matrix.yaml").scans[1].problem == found["scans"][1]["problem"]
    text = " ".join(invoke("--from", str(tmp_path)).stdout.split())
    assert "not scanned accelerate 1.16.0" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing-at-all"], "IDS names no patch: 'nothing-at-all'"),
        (["--library", "nothing"], "no patch fixes nothing"),
        (["--versions", "newest"], "'newest' is not a version range"),
    ],
)
def test_refused(tmp_path: Path, invoke, arguments: list[str], message: str) -> None:
    write_wheel(tmp_path, WELL, "1.15.0", "accelerate")
    result = invoke("--from", str(tmp_path), *arguments)
    assert result.exit_code == 64
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "matrix.yaml").exists()


def test_two_at_once_and_several_processes(tmp_path: Path, invoke) -> None:
    for minor in range(3):
        modules = {f"m{number}": f"a = {minor}{number}\n" for number in range(30)}
        write_wheel(tmp_path, {**WELL, **modules}, f"1.{minor + 9}.0", "accelerate")
    command = [sys.executable, "-m", "patchkit", "matrix", "scan", "--from", str(tmp_path)]
    command += ["--cache", str(tmp_path / "cache"), "--json", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": python_path(Path(__file__).parents[3])}
    running = [
        subprocess.Popen(
            [*command, "--file", str(tmp_path / f"{number}.yaml")],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for number in range(2)
    ]
    found = [json.loads(process.communicate()[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    alone = json.loads(invoke("--from", str(tmp_path), "--json").stdout)
    assert found == [alone, alone]
    ids = ["accelerate-*"]
    chosen = run(*command, "--file", tmp_path / "0.yaml", *ids, env=environment)
    assert json.loads(chosen.stdout) == alone
    assert not list((tmp_path / "cache").rglob("*.new"))
