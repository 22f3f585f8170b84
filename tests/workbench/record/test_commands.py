"""`python -m workbench check`, `record` and `draw`: exit status, output, refusals."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from patchkit.catalogue import entries as catalogue
from patchkit.matrix.file import write
from patchkit.matrix.records import Environment, Matrix, Scan
from patchkit.matrix.records import Result as Measured

from ...cli.conftest import refused
from ..conftest import invoke

PATCH = "trl-fused-loss-without-triton"
CLAIM = {entry.patch.id: entry.patch for entry in catalogue.load()}[PATCH].affects["trl"]
FITS = {"1.14.2": "absent", "1.15.0": "matches", "1.16.0": "absent"}


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
    bema, fused, looked_into, summary = result.stdout.splitlines()
    assert "but nothing has been measured" in bema
    assert fused.startswith(f"{PATCH} claims trl {CLAIM}, but the buggy code is also in trl 1.16.0")
    assert looked_into.startswith(f"To be looked into: {PATCH}, trl 1.16.0: present: ")
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
    content = {"schema": 1, "environment": {**where, "date": "2026-01-01"}, "verdicts": [verdict]}
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
    ],
)
def test_refusals(arguments: list[str], message: str) -> None:
    refused(invoke(*arguments), message)


def test_check_of_a_damaged_matrix(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("schema: 9\n")
    refused(invoke("check", "--file", str(tmp_path / "m.yaml")), "m.yaml must be a mapping")


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


ID = "trl-adapter-bf16-cast"


@pytest.fixture
def draw(tmp_path: Path, ran, read):
    """Draws a matrix of three releases."""
    scans = (
        read("1.0.0", "trl", states={ID: "matches"}),
        read("0.9.0", "trl", states={ID: "absent"}),
        read("0.1", "peft", states={"peft-old": "matches"}),
    )
    write(tmp_path / "m.yaml", Matrix((ran(ID, "fixed", trl="1.0.0"),), scans))
    return lambda *arguments: invoke("draw", "--file", str(tmp_path / "m.yaml"), *arguments)


def test_draw_markdown(draw, tmp_path: Path) -> None:
    output = tmp_path / "new.md"
    done = draw(str(output), ID)
    assert (done.exit_code, done.output) == (0, "")
    assert f"| `{ID}` | `·` | `●` |" in output.read_text(encoding="utf-8")
    by_set = draw(str(output), ID, "--by", "set")
    assert (by_set.exit_code, by_set.output) == (0, "")
    assert f"| `{ID}` | `●` |" in output.read_text(encoding="utf-8")


@pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)
@pytest.mark.parametrize(
    ("name", "begin"), [("m.svg", b"<?xml"), ("m.png", b"\x89PNG"), ("m.SVG", b"<?xml")]
)
def test_draw_a_picture(draw, tmp_path: Path, name: str, begin: bytes) -> None:
    output = tmp_path / name
    done = draw(str(output))
    assert (done.exit_code, done.output) == (0, "")
    assert output.read_bytes().startswith(begin)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.md", "trl-adapter-bf16-cats"], "IDS names no patch: 'trl-adapter-bf16-cats'. Did you"),
        (
            ["m.md", "--library", "tlr"],
            "no patch is for 'tlr'; there are: accelerate, bitsandbytes",
        ),
        (["m.pdf"], "m.pdf: the ending must be one of .svg, .png, .md"),
        (["m"], "the ending must be one of .svg, .png, .md"),
        (["no-such-folder/m.md"], "cannot write no-such-folder/m.md: No such file"),
        (["."], "is a directory"),
        (["m.md", "--by", "patch"], "'patch' is not one of 'release', 'set'"),
        (["m.md", "--file", "none.yaml"], "cannot read none.yaml: No such file or directory"),
    ],
)
def test_draw_refuses(
    draw, tmp_path: Path, monkeypatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    refused(draw(*arguments), message)
    assert sorted(tmp_path.iterdir()) == before
