"""The command line: exit status, what goes where, and one line for what went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import patchkit
from patchkit.cli import main
from patchkit.matrix import read


def is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), prog_name="patchkit")


def refused(result: Result, message: str) -> None:
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert result.stderr.splitlines()[-1] == errors[0]
    assert result.stdout == ""


def test_report_as_json() -> None:
    result = invoke("report", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    given = json.loads(result.stdout)
    assert given == json.loads(patchkit.report().to_json())
    assert "trl-adapter-bf16-cast" in [row["id"] for row in given["patches"]]


def test_report_as_a_table() -> None:
    result = invoke("report")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("patchkit: ")
    for one in patchkit.report():
        assert one.id in result.stdout


def test_report_applies_nothing() -> None:
    before = [one.status for one in patchkit.report()]
    invoke("report")
    assert [one.status for one in patchkit.report()] == before


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["report", "-h"], ["matrix", "record", "-h"]]
)
def test_help(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: patchkit")


def test_version() -> None:
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"patchkit, version {patchkit.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reprot"], "No such command 'reprot'"),
        (["report", "--jsno"], "No such option"),
        (["report", "trl"], "Got unexpected extra argument (trl)"),
        (["verify", "no-such-patch"], "only= names no patch: 'no-such-patch'"),
        (["verify", "trl-adapter-bf16-cats"], "Did you mean 'trl-adapter-bf16-cast'"),
        (["verify", "zzz-*", "--json"], "only= names no patch: 'zzz-*'"),
        (
            ["matrix", "record", "no-such-patch", "--file", "m.yaml"],
            "names no patch: 'no-such-patch'",
        ),
        (["matrix", "record", "--file", "."], "is a directory"),
        (["demo", "--trainer", "ppo"], "'ppo' is not one of 'sft', 'dpo', 'reward', 'kto', 'grpo'"),
        (["demo", "--precision", "fp8"], "'fp8' is not one of 'fp16', 'bf16', 'fp32'"),
        (["demo", "--quantization", "2bit"], "'2bit' is not one of '4bit', '8bit', 'none'"),
        (["demo", "--steps", "0"], "0 is not in the range 1<=x<=1000"),
        (["demo", "--steps", "-1"], "-1 is not in the range"),
        (["demo", "--steps", "1001"], "1001 is not in the range"),
        (["demo", "--steps", "1.5"], "'1.5' is not a valid integer"),
        (["demo", "--steps"], "Option '--steps' requires an argument"),
    ],
)
def test_bad_command(tmp_path, monkeypatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    refused(invoke(*arguments), message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(is_installed("trl"), reason="trl is there")
def test_demo_without_the_libraries() -> None:
    result = invoke("demo")
    refused(result, "the demo trains for real and needs ")
    assert "trl" in result.stderr
    assert "pip install 'patchkit[train]'" in result.stderr


def test_bad_environment(monkeypatch) -> None:
    monkeypatch.setenv("PATCHKIT_ADAPTER_CAST", "bfloat")
    assert invoke("report").exit_code == 0


@pytest.mark.parametrize(
    "content", ["schema: 2\n", "{", "schema: [1\nresults: }\n", "nothing"], ids=str.strip
)
def test_a_damaged_matrix_is_found_before_anything_is_measured(tmp_path, content: str) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(content)
    result = invoke("matrix", "record", "--file", str(file))
    refused(result, "m.yaml")
    assert file.read_text() == content


def test_help_loads_no_library(fresh) -> None:
    loaded = fresh(
        """
        import runpy, sys
        sys.argv = ["patchkit", "--help"]
        try:
            runpy.run_module("patchkit", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            assert not end.code
        heavy = ("torch", "numpy", "transformers", "trl", "wrapt", "rich", "yaml", "packaging")
        result = [name for name in heavy if name in sys.modules]
        """
    )
    assert loaded == []


def test_report_loads_no_library(fresh) -> None:
    loaded = fresh(
        """
        import runpy, sys
        sys.argv = ["patchkit", "report"]
        try:
            runpy.run_module("patchkit", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            assert not end.code
        heavy = ("torch", "numpy", "transformers", "trl", "accelerate")
        result = [name for name in heavy if name in sys.modules]
        """
    )
    assert loaded == []


# From here on with patches of our own, in processes as a user has them.

ADDON = """\
import os
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace

PATCH = Patch(
    id="addon-{name}",
    title="it is mended",
    affects={{"madeup": "{affects}"}},
    changes=(Rewrite("madeup.trainer:f", Rule(
        Pattern("bug({number})"), lambda node: [replace(node, "bug({becomes})")]
    )),),
    symptom="{symptom}",
)
{reproduce}
"""
TRAINER = """\
def bug(number):
    if number > 0:
        raise ValueError(f"bug {number}")

def f(number):
    if number == 1:
        bug(1)
    if number == 2:
        bug(2)
    if number == 3:
        bug(-3)
    if number == 4:
        bug(4)
"""
REPRODUCE = "def reproduce():\n    from madeup.trainer import f\n    f({number})"


def addon(name: str, number: int, **given: Any) -> str:
    return ADDON.format(
        **{
            "name": name,
            "number": number,
            "affects": ">=1",
            "becomes": 0,
            "symptom": f"bug {number}",
            "reproduce": REPRODUCE.format(number=number),
            **given,
        }
    )


ADDONS = {
    "mended": addon("mended", 1),
    "not_mended": addon("not-mended", 2, becomes=22, symptom="bug 2"),
    "not_reproduced": addon("not-reproduced", -3),
    "not_affected": addon("not-affected", 1, affects="<1"),
    "other_error": addon("other-error", 4, symptom="another message"),
    "needs_cuda": addon("needs-cuda", 1).replace("symptom=", 'requires="cuda", symptom='),
    "absent": addon("absent", 5).replace('"madeup"', '"no-such-library"'),
    "no_reproducer": addon("no-reproducer", 4, reproduce=""),
    # The interpreter dies without the patch, and not of the bug.
    "dies": addon(
        "dies",
        4,
        reproduce="def reproduce():\n    from madeup.trainer import f\n"
        "    try:\n        f(4)\n    except ValueError:\n        os._exit(3)",
    ),
}
WITH_STATUS: dict[str, tuple[str, int]] = {
    "mended": ("mended", 0),
    "not-affected": ("not-affected", 0),
    "not-mended": ("not-mended", 1),
    "not-reproduced": ("not-reproduced", 2),
    "other-error": ("error", 1),
    "needs-cuda": ("needs-cuda", 0),
    "no-reproducer": ("error", 1),
    "dies": ("error", 1),
}

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(library, tmp_path: Path) -> Command:
    """Runs `patchkit …` where the made-up library and patches of it are installed."""
    library.write("trainer", TRAINER)

    def run(*arguments: str, addons: dict[str, str], env: Any = None) -> Any:
        (tmp_path / "addon").mkdir()
        for name, source in addons.items():
            (tmp_path / "addon" / f"{name}.py").write_text(source)
        info = tmp_path / "addon-3.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: addon\nVersion: 3.0\n")
        points = "".join(f"{name} = addon.{name}\n" for name in addons)
        (info / "entry_points.txt").write_text(f"[patchkit.patches]\n{points}")
        paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.run(
            [sys.executable, "-m", "patchkit", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(env or {})},
            timeout=120,
            check=False,
        )

    return run


@pytest.mark.parametrize("name", WITH_STATUS)
def test_verify(command, name: str) -> None:
    outcome, status = WITH_STATUS[name]
    file = name.replace("-", "_")
    done = command("verify", f"addon-{name}", "--json", addons={file: ADDONS[file]})
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert (verdict["id"], verdict["outcome"]) == (f"addon-{name}", outcome), verdict
    assert done.returncode == status
    assert done.stderr == f"addon-{name} ...\n"
    if name == "mended":
        assert verdict["without"] == "ValueError: bug 1"
        assert verdict["with_patch"] == "no error"


def test_verify_for_people(command) -> None:
    addons = {"mended": ADDONS["mended"], "not_affected": ADDONS["not_affected"]}
    done = command("verify", "addon-*", addons=addons)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "mended          addon-mended",
        "    without it: ValueError: bug 1",
        "    with it:    no error",
        "not-affected    addon-not-affected",
        "    without it: madeup 1.2.0 does not have this bug; <1 has",
    ]


def test_verify_beside_a_broken_definition(command) -> None:
    addons = {"mended": ADDONS["mended"], "bad": "raise ZeroDivisionError"}
    done = command("verify", "addon-mended", "--json", addons=addons)
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["outcome"] == "mended", verdict


def test_verify_where_a_version_does_not_parse(command, library) -> None:
    library.release("unknown")
    done = command("verify", "addon-mended", "--json", addons={"mended": ADDONS["mended"]})
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)
    assert "'unknown' is not a version" in done.stdout + done.stderr


def test_record(command, tmp_path) -> None:
    file = tmp_path / "m.yaml"
    names = ("mended", "not_affected", "absent")
    addons = {name: ADDONS[name] for name in names}
    done = command("matrix", "record", "--file", str(file), "addon-*", addons=addons)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["mended", "addon-mended", "not-affected", "addon-not-affected"]
    results = read(file)
    # Nothing is measured on a library that is not there.
    assert {one.patch: one.outcome for one in results} == {
        "addon-mended": "mended",
        "addon-not-affected": "not-affected",
    }
    # Without the version of the library that the patch mends nothing could be looked up.
    assert {one.versions.get("madeup") for one in results} == {"1.2.0"}


def test_record_where_nothing_can_be_written(command, tmp_path) -> None:
    file = tmp_path / "no" / "such" / "folder" / "m.yaml"
    addons = {"not_affected": ADDONS["not_affected"]}
    done = command("matrix", "record", "--file", str(file), "addon-*", addons=addons)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
    assert "m.yaml" in done.stderr


def test_unknown_id_in_a_real_process(command) -> None:
    done = command("verify", "no-such-patch", addons={})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: only= names no patch: 'no-such-patch'")
