"""Measuring a version set by tox: how it is called, and what is made of what it leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from patchkit.matrix import MatrixError
from patchkit.matrix.sets import VersionSet
from patchkit.matrix.tox import Tox, find_tox

SET = VersionSet("1.16", {"trl": "1.16.0", "torch": "2.13.0"})
ENVIRONMENT = {
    "versions": {"trl": "1.16.0", "torch": "2.13.0+cpu"},
    "python": "3.11.7",
    "platform": "linux-x86_64",
    "device": "cpu",
    "date": "2026-01-01",
}
VERDICT = {"id": "trl-adapter-bf16-cast", "outcome": "mended", "without": "", "with_patch": ""}
STAND_IN = """\
import json, pathlib, sys
root = pathlib.Path(__file__).parent
if "--version" in sys.argv:
    sys.exit(0)
(root / "called.json").write_text(json.dumps([sys.argv[1:], str(pathlib.Path.cwd())]))
print("matrix-1.16: commands[0]> patchkit verify", flush=True)
content = (root / "answer").read_text()
if content:
    own = sys.argv[sys.argv.index("--") + 1 :]
    pathlib.Path(own[own.index("--output") + 1]).write_text(content)
print("error: it went wrong", file=sys.stderr)
sys.exit(1)
"""


@pytest.fixture
def tox(tmp_path: Path) -> Tox:
    """What calls like tox, says that it failed, and leaves the file `answer` as the verdicts."""
    (tmp_path / "tox.ini").touch()
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    (tmp_path / "answer").touch()
    return Tox((sys.executable, str(tmp_path / "stand_in.py")), tmp_path, tmp_path / "envs")


def answer(tox: Tox, **changes: Any) -> None:
    content = {"schema": 2, "environment": ENVIRONMENT, "verdicts": [VERDICT], **changes}
    (tox.root / "answer").write_text(json.dumps(content))


def test_results_are_read_whatever_the_exit_status(tox: Tox) -> None:
    answer(tox)
    into = tox.root / ".matrix" / "a" / "1.16.json"
    matrix = tox.measure(SET, ["trl-adapter-bf16-cast"], into)
    assert [(one.patch, one.outcome) for one in matrix.results] == [
        ("trl-adapter-bf16-cast", "mended")
    ]
    assert not matrix.unmeasured
    arguments, folder = json.loads((tox.root / "called.json").read_text())
    assert folder == str(tox.root)
    expected = "run --colored no -e matrix-1.16 --workdir"
    expected = [*expected.split(), str(tox.root / "envs"), "--", "--output", str(into)]
    assert arguments == [*expected, "trl-adapter-bf16-cast"]


def test_a_set_without_results_is_unmeasured_and_old_results_are_not_taken_for_new(
    tox: Tox,
) -> None:
    into = tox.root / "1.16.json"
    answer(tox)
    tox.measure(SET, [], into)
    (tox.root / "answer").write_text("")
    matrix = tox.measure(SET, [], into)
    assert not matrix.results
    (failed,) = matrix.unmeasured
    assert (failed.name, failed.versions, failed.problem) == ("1.16", SET.versions, "it went wrong")
    assert len(failed.date) == len("2026-01-01")


def test_results_of_other_versions_are_not_those_of_the_set(tox: Tox) -> None:
    answer(tox, environment={**ENVIRONMENT, "versions": {"trl": "1.15.0", "torch": "2.13.0"}})
    matrix = tox.measure(SET, [], tox.root / "1.16.json")
    assert not matrix.results
    assert [one.problem for one in matrix.unmeasured] == [
        "trl 1.15.0 was installed, not the 1.16.0 that the set pins"
    ]


@pytest.mark.parametrize("torch", ["2.13.0", "2.13.0+cu130"])
def test_builds_of_one_release_are_that_release(tox: Tox, torch: str) -> None:
    answer(tox)
    one = VersionSet("1.16", {"trl": "1.16.0", "torch": torch})
    assert not tox.measure(one, [], tox.root / "1.16.json").unmeasured


def test_what_is_no_verification(tox: Tox) -> None:
    answer(tox, verdicts=None)
    with pytest.raises(MatrixError, match=r"1\.16\.json is not what `patchkit verify --json`"):
        tox.measure(SET, [], tox.root / "1.16.json")


def test_where_nothing_can_be_written(tox: Tox) -> None:
    with pytest.raises(MatrixError, match="cannot write"):
        tox.measure(SET, [], tox.root / "tox.ini" / "1.16.json")


def test_tox_is_looked_for_until_one_works(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MatrixError, match="is not a checkout of patchkit: there is no tox"):
        find_tox(tmp_path)
    (tmp_path / "tox.ini").touch()
    with pytest.raises(MatrixError, match="pip install tox"):
        find_tox(tmp_path)
    program(tmp_path / "tox", 127)
    with pytest.raises(MatrixError, match="pip install tox"):
        find_tox(tmp_path)
    beside = tmp_path / ".venv-test" / "bin" / "tox"
    beside.parent.mkdir(parents=True)
    program(beside, 0)
    assert find_tox(tmp_path).command == (str(beside),)
    program(tmp_path / "tox", 0)
    assert find_tox(tmp_path).command == (str(tmp_path / "tox"),)
    monkeypatch.chdir(tmp_path)
    assert find_tox(tmp_path, Path("envs")).workdir == tmp_path / "envs"


def program(file: Path, status: int) -> None:
    file.write_text(f"#!/bin/sh\nexit {status}\n")
    file.chmod(0o755)
