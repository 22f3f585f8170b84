"""`python -m workbench record`, with patches of a made-up library."""

from __future__ import annotations

import json
from functools import partial

import pytest

from patchkit.matrix.file import read

from ...madeup_addons import ADDONS, addon
from ...madeup_addons import command as run_command

__all__ = ["run_command"]


@pytest.fixture
def command(run_command, on_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", on_path["PYTHONPATH"])
    return partial(run_command, program="workbench")


def test_record(command, tmp_path) -> None:
    file = tmp_path / "m.yaml"
    names = ("fixed", "not_fixed", "not_affected", "absent")
    addons = {name: ADDONS[name] for name in names}
    done = command("record", "--file", str(file), "--id", "addon-*", addons=addons)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "fixed           addon-fixed",
        "not-fixed       addon-not-fixed",
        "present         addon-not-affected",
    ]
    results = read(file).results
    # Nothing is measured on a library that is not there.
    assert {result.patch: (result.outcome, result.note) for result in results} == {
        "addon-fixed": ("fixed", ""),
        "addon-not-fixed": ("not-fixed", "ValueError: bug 22"),
        "addon-not-affected": ("present", "ValueError: bug 1"),
    }
    # Without the version of the library that the patch fixes nothing could be looked up.
    assert {result.environment.versions.get("madeup") for result in results} == {"1.2.0"}


def test_record_what_was_verified_elsewhere(command, tmp_path) -> None:
    measured, file = tmp_path / "deep" / "1.json", tmp_path / "m.yaml"
    addons = {"fixed": ADDONS["fixed"]}
    done = command(
        "verify", "addon-*", "--output", str(measured), addons=addons, program="patchkit"
    )
    assert done.returncode == 0
    content = json.loads(measured.read_text())
    content["environment"] |= {"device": "NVIDIA T4", "date": "2026-01-02"}
    content["environment"]["versions"]["madeup"] = "1.1.0"
    measured.write_text(json.dumps(content))
    left = {"name": "2", "versions": {"madeup": "2"}, "date": "2026-01-02", "problem": "no such"}
    (tmp_path / "2.json").write_text(json.dumps({"unmeasured": left}))
    done = command("record", "deep/1.json", "2.json", "--file", str(file), addons={})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["fixed           addon-fixed", "not measured    2: no such"]
    found = read(file)
    (result,) = found.results
    assert (result.environment.device, result.environment.date) == ("NVIDIA T4", "2026-01-02")
    assert [skipped.problem for skipped in found.unmeasured] == ["no such"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.json is not JSON"),
        ("[]", "bad.json is not what `patchkit verify --json` writes"),
        ("{}", "bad.json is not what `patchkit verify --json` writes"),
        ('{"environment": {}, "verdicts": []}', "is not what `patchkit verify --json` writes"),
        ('{"unmeasured": {"name": "x"}}', "is not what `patchkit verify --json` writes"),
    ],
)
def test_record_something_else(command, tmp_path, content: str, message: str) -> None:
    (tmp_path / "bad.json").write_text(content)
    done = command("record", "bad.json", "--file", "m.yaml", addons={})
    assert (done.returncode, done.stdout) == (64, "")
    assert "Traceback" not in done.stderr
    assert message in done.stderr
    assert not (tmp_path / "m.yaml").exists()


def test_paths_of_this_machine_stay_out_of_the_matrix(command, tmp_path) -> None:
    symptom = "bug in /home/me/site-packages/madeup/trainer.py"
    source = addon(
        "not-fixed",
        2,
        becomes=22,
        symptom="bug",
        reproduce=(f"def reproduce():\n    raise ValueError({symptom!r})"),
    )
    file = tmp_path / "m.yaml"
    command("record", "--file", str(file), "--id", "addon-*", addons={"a": source})
    (result,) = read(file).results
    assert result.note == "ValueError: bug in madeup/trainer.py"


def test_record_where_nothing_can_be_written(command, tmp_path) -> None:
    file = tmp_path / "no" / "such" / "folder" / "m.yaml"
    addons = {"fixed": ADDONS["fixed"]}
    done = command("record", "--file", str(file), "--id", "addon-*", addons=addons)
    assert "Traceback" not in done.stderr
    assert done.returncode == 64
    assert "m.yaml" in done.stderr


def test_a_machine_that_lacks_something_in_the_matrix(command, tmp_path) -> None:
    file = tmp_path / "m.yaml"
    addons = {"in_part": ADDONS["in_part"]}
    done = command("record", "--file", str(file), "--id", "addon-*", addons=addons)
    assert done.returncode == 0, done.stderr
    (result,) = read(file).results
    assert (result.outcome, result.note) == ("needs-avx512-bf16", "")
    shown = command("matrix", "show", "--file", str(file), addons={}, program="patchkit").stdout
    assert "never run to an end (needs-avx512-bf16)" in shown
