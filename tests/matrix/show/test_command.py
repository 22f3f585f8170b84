"""`patchkit matrix show`: what goes where, and one line for what went wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from patchkit.cli import main
from patchkit.matrix.file import write
from patchkit.matrix.records import Matrix

from ...cli.conftest import refused

ID = "trl-adapter-bf16-cast"


@pytest.fixture
def file(tmp_path: Path, ran, read) -> Path:
    path = tmp_path / "m.yaml"
    scans = (
        read("1.0.0", "trl", states={ID: "matches"}),
        read("0.9.0", "trl", states={ID: "absent"}),
        read("0.1", "peft", states={"peft-old": "matches"}),
    )
    write(path, Matrix((ran(ID, "fixed", trl="1.0.0"),), scans))
    return path


@pytest.fixture
def show(file):
    def run(*arguments: str, width: int = 80) -> Result:
        line = ["matrix", "show", "--file", str(file), *arguments]
        return CliRunner().invoke(main, line, prog_name="patchkit", env={"COLUMNS": str(width)})

    return run


def test_table(show) -> None:
    done = show()
    assert (done.exit_code, done.stderr) == (0, "")
    assert "trl, 2 releases: 0.9.0 to 1.0.0" in done.stdout
    assert f"{ID}             · ●\n" in done.stdout
    assert "peft-old *" in done.stdout
    assert "  accelerate-gradscaler-guard: nothing was run or read" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ([ID], {ID}),
        (["trl-adapter-*", "peft-old"], {ID, "peft-old"}),
        (["--library", "peft", "*old"], {"peft-old"}),
        (["--library", "trl", "--library", "peft", ID, "peft-old"], {ID, "peft-old"}),
        (["--library", "peft", ID], set()),
        (["--by", "set", ID], {ID}),
        (["--by", "set", "--library", "peft"], set()),
    ],
)
def test_selection(show, arguments: list[str], ids: set[str]) -> None:
    done = show("--format", "json", *arguments)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert {row["id"] for grid in found["grids"] for row in grid["patches"]} == ids


def test_json(show) -> None:
    found = json.loads(show("--format", "json", ID).stdout)
    assert found == json.loads(show("--json", ID).stdout)
    (grid,) = found["grids"]
    assert (grid["name"], grid["columns"]) == ("trl", ["0.9.0", "1.0.0"])
    (row,) = grid["patches"]
    assert row["known"] is True
    assert row["cells"][0] == {
        "state": "read-absent",
        "scan": "absent",
        "outcomes": [],
        "notes": ["absent: not claimed, and the buggy code is not there"],
    }
    assert (row["cells"][1]["state"], row["cells"][1]["outcomes"]) == ("fixed", ["fixed"])
    assert set(found["states"]) >= {cell["state"] for cell in row["cells"]}
    by_set = json.loads(show("--format", "json", "--by", "set", ID).stdout)
    assert by_set["sets"][0][0]["versions"]["trl"] == "1.0.0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trl-adapter-bf16-cats"], "IDS names no patch: 'trl-adapter-bf16-cats'. Did you mean"),
        (["--library", "tlr"], "no patch is for 'tlr'; there are: accelerate, bitsandbytes"),
        (["--format", "table", "--json"], "--json and --format table contradict"),
        (["--format", "xml"], "'xml' is not one of 'table', 'json'"),
        (["--by", "patch"], "'patch' is not one of 'release', 'set'"),
        (["--file", "none.yaml"], "cannot read none.yaml: No such file or directory"),
    ],
)
def test_bad_command(show, tmp_path, monkeypatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    refused(show(*arguments), message)
    assert sorted(tmp_path.iterdir()) == before


def test_a_damaged_matrix(show, file) -> None:
    file.write_text("schema: 1\n")
    assert refused(show(), "").startswith("Error: m.yaml: ")


def test_the_shipped_matrix_can_be_shown() -> None:
    for by in ("release", "set"):
        done = CliRunner().invoke(main, ["matrix", "show", "--by", by], env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.output
        assert max(map(len, done.stdout.splitlines())) <= 80
