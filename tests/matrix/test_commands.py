"""`patchkit matrix check` and `patchkit matrix bisect`: exit status, output, refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from patchkit import catalogue
from patchkit.cli import main
from patchkit.matrix import Environment, Matrix, Scan, write
from patchkit.matrix import Result as Measured

PATCH = "trl-fused-loss-without-triton"
CLAIM = {entry.patch.id: entry.patch for entry in catalogue.load()}[PATCH].affects["trl"]
FITS = {"1.14.2": "absent", "1.15.0": "matches", "1.16.0": "absent"}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["matrix", *arguments], prog_name="patchkit")


def matrix_file(folder: Path, states: dict[str, str]) -> str:
    scans = [Scan("trl", version, "2026-01-01", {PATCH: it}) for version, it in states.items()]
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
    assert "and nothing was measured of it" in bema
    assert fused.startswith(f"{PATCH} claims trl {CLAIM}, but its code stands in trl 1.16.0")
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
    verdict = {"id": PATCH, "outcome": "mended", "without": "", "with_patch": ""}
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
    assert [(one["patch"], one["outcome"]) for one in given["results"]] == [(PATCH, "mended")]


# A checkout whose tox says of each release what a table says.

STAND_IN = """\
#!{python}
import json, pathlib, sys
if "--version" in sys.argv:
    sys.exit(0)
root = pathlib.Path(__file__).parent.parent.parent
name = sys.argv[sys.argv.index("-e") + 1].removeprefix("matrix-")
answers = json.loads((root / "answers.json").read_text())
if name not in answers:
    sys.exit("error: cannot install")
own = sys.argv[sys.argv.index("--") + 1 :]
where = {{"versions": {{"trl": name}}, "python": "3", "platform": "x", "device": "cpu",
         "date": "2026-01-01"}}
verdict = {{"id": own[-1], "outcome": answers[name], "without": "", "with_patch": ""}}
content = {{"schema": 2, "environment": where, "verdicts": [verdict]}}
pathlib.Path(own[own.index("--output") + 1]).write_text(json.dumps(content))
"""


def program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path / ".venv-test" / "bin" / "tox", STAND_IN.format(python=sys.executable))
    (tmp_path / "tox.ini").touch()
    (tmp_path / "version_sets").mkdir()
    return tmp_path


def bisect(checkout: Path, answers: dict[str, str], *arguments: str) -> Result:
    for version in ("1.9", "1.12", "1.14", "1.15", "1.16", "1.17"):
        (checkout / "version_sets" / f"{version}.txt").write_text(f"trl=={version}\n")
    (checkout / "answers.json").write_text(json.dumps(answers))
    return invoke("bisect", PATCH, "--sets", str(checkout / "version_sets"), *arguments)


ANSWERS = {"1.9": "absent", "1.12": "absent", "1.15": "mended", "1.16": "absent", "1.17": "absent"}


def test_bisect(checkout: Path) -> None:
    result = bisect(checkout, ANSWERS)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        ["trl", "1.9", "absent"],
        ["trl", "1.17", "absent"],
        ["trl", "1.15", "mended"],
    ]
    assert lines[3].startswith("trl 1.14       not measured   1.14")
    assert lines[3].endswith("  cannot install")
    assert lines[-3:] == [
        "The first affected trl is 1.15 (1.12 is not), the last 1.15 (1.16 is not).",
        f"{PATCH} claims trl {CLAIM}, which agrees.",
        "Could not be told: trl 1.14.",
    ]
    kept = checkout / ".matrix" / "bisect" / PATCH / "1.15.json"
    assert json.loads(kept.read_text())["verdicts"][0]["outcome"] == "mended"


def test_bisect_as_json_where_the_patch_claims_less(checkout: Path) -> None:
    result = bisect(checkout, {**ANSWERS, "1.16": "present"}, "--json", "--all")
    assert result.exit_code == 1
    given = json.loads(result.stdout)
    assert (given["first"], given["last"], given["range"]) == ("1.15", "1.16", ">=1.15,<1.17")
    assert given["agrees"] is False
    assert [one["release"] for one in given["measured"]][-1] == "1.17"
    assert len(result.stderr.splitlines()) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no-such-patch"], "IDS names no patch: 'no-such-patch'"),
        (["check", "--file", "nowhere.yaml"], "'nowhere.yaml' does not exist"),
        (["bisect"], "Missing argument 'ID'"),
        (["bisect", "trl-fused-los"], "Did you mean 'trl-fused-loss-without-triton'"),
        (["bisect", "trl-*"], "one patch is bisected at a time; trl-* names"),
        (["bisect", PATCH, "--sets", "nowhere"], "there is no folder"),
        (["bisect", PATCH, "--sets", "empty"], "holds no version set"),
        (["bisect", PATCH, "--sets", "alone"], "is not a checkout of patchkit"),
        (["bisect", PATCH, "--sets", "bad"], "bad/1.txt, line 1: 'trl' is not an exact pin"),
        (["bisect", "unsloth-post-patch-dtype", "--sets", "root/sets"], "no version set pins uns"),
        (["bisect", PATCH, "--sets", "root/sets"], "pip install tox"),
    ],
)
def test_refusals(tmp_path: Path, monkeypatch, arguments: list[str], message: str) -> None:
    for name, line in {"empty": "", "alone": "trl==1", "bad": "trl", "root/sets": "trl==1"}.items():
        (tmp_path / name).mkdir(parents=True)
        if line:
            (tmp_path / name / "1.txt").write_text(line)
    (tmp_path / "root" / "tox.ini").touch()
    monkeypatch.chdir(tmp_path)
    if "pip" in message:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    elif "pins" in message:
        program(tmp_path / "tox", "#!/bin/sh\nexit 0\n")
        monkeypatch.setenv("PATH", str(tmp_path))
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
    scans = tuple(Scan("trl", version, "2026-01-01", {PATCH: it}) for version, it in FITS.items())
    write(tmp_path / "m.yaml", Matrix((ran,), scans))
    result = invoke("check", PATCH, "--file", str(tmp_path / "m.yaml"))
    assert result.exit_code == 1
    assert "but it showed on trl 1.16.0 (present) too" in result.stdout
