"""`patchkit matrix check` and `patchkit matrix record`: exit status, output, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from patchkit.catalogue import entries as catalogue
from patchkit.cli import main
from patchkit.matrix import Environment, Matrix, Scan, write
from patchkit.matrix import Result as Measured

PATCH = "trl-fused-loss-without-triton"
CLAIM = {entry.patch.id: entry.patch for entry in catalogue.load()}[PATCH].affects["trl"]
FITS = {"1.14.2": "absent", "1.15.0": "matches", "1.16.0": "absent"}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["matrix", *arguments], prog_name="patchkit")


def matrix_file(folder: Path, states: dict[str, str]) -> str:
    scans = [
        Scan("trl", version, "2026-01-01", {PATCH: state}) for version, state in states.items()
    ]
    write(folder / "m.yaml", Matrix(scans=tuple(scans)))
    return str(folder / "m.yaml")


def test_check_where_all_agree(tmp_path: Path) -> None:
    result = invoke("check", PATCH, "--file", matrix_file(tmp_path, FITS))
    assert result.exit_code == 0
    assert result.stdout == (
        "1 patches: 1 claim what was measured, 0 do not, and of 0 nothing was measured.\n"
    )


def test_check_where_they_do_not(tmp_path: Path) -> None:
    file = matrix_file(tmp_path, {**FITS, "1.16.0": "present"})
    result = invoke("check", "trl-fused-*", "trl-bema-half-precision", "--file", file)
    assert result.exit_code == 1
    bema, fused, summary = result.stdout.splitlines()
    assert "but nothing has been measured" in bema
    assert fused.startswith(f"{PATCH} claims trl {CLAIM}, but the buggy code is also in trl 1.16.0")
    assert summary == (
        "2 patches: 0 claim what was measured, 1 do not, and of 1 nothing was measured."
    )


def test_check_as_json(tmp_path: Path) -> None:
    file = matrix_file(tmp_path, {**FITS, "1.16.0": "present"})
    result = invoke("check", PATCH, "--file", file, "--json")
    assert result.exit_code == 1
    given = json.loads(result.stdout)
    (one,) = given["patches"]
    assert given["schema"] == 1
    assert (one["id"], one["claims"], one["derived"]) == (PATCH, {"trl": CLAIM}, {"trl": ">=1.15"})
    assert one["measured"] is True
    assert len(one["contradictions"]) == 1


def test_record_says_what_it_merged(tmp_path: Path) -> None:
    where = {"versions": {"trl": "1.16.0"}, "python": "3", "platform": "x", "device": "cpu"}
    verdict = {"id": PATCH, "outcome": "fixed", "without": "", "with_patch": ""}
    content = {
        "schema": 2,
        "environment": {**where, "date": "2026-01-01"},
        "verdicts": [verdict],
    }
    measured = tmp_path / "1.16.json"
    measured.write_text(json.dumps(content))
    result = invoke("record", str(measured), "--file", str(tmp_path / "m.yaml"), "--json")
    assert result.exit_code == 0, result.output
    given = json.loads(result.stdout)
    assert (given["schema"], given["unmeasured"]) == (1, [])
    assert [(result["patch"], result["outcome"]) for result in given["results"]] == [
        (PATCH, "fixed")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no-such-patch"], "IDS names no patch: 'no-such-patch'"),
        (["check", "--file", "nowhere.yaml"], "'nowhere.yaml' does not exist"),
        (
            ["bisect", PATCH],
            "No such command 'bisect' any more. Measure version sets with `tox run",
        ),
    ],
)
def test_refusals(arguments: list[str], message: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 64, result.output
    assert message in result.stderr
    assert result.stdout == ""
    assert result.stderr.count("Error: ") == 1


def test_check_of_a_damaged_matrix(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("schema: 9\n")
    result = invoke("check", "--file", str(tmp_path / "m.yaml"))
    assert (result.exit_code, result.stdout) == (64, "")
    assert "m.yaml must be a mapping" in result.stderr


def test_check_reads_results_too(tmp_path: Path) -> None:
    where = Environment({"trl": "1.16.0"}, "3.11", "linux", "cpu", "2026-01-01")
    ran = Measured(PATCH, "present", where)
    scans = tuple(
        Scan("trl", version, "2026-01-01", {PATCH: state}) for version, state in FITS.items()
    )
    write(tmp_path / "m.yaml", Matrix((ran,), scans))
    result = invoke("check", PATCH, "--file", str(tmp_path / "m.yaml"))
    assert result.exit_code == 1
    assert "but the bug also shows on trl 1.16.0 (present)" in result.stdout
