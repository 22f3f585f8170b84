"""What was chosen is checked before the command runs, and reaches each interpreter."""

from __future__ import annotations

import json
import sys

import pytest

import patchkit
from patchkit.cli.run import launch

from ...engine import old_library
from ...engine.test_switching_off import BOTH
from ..conftest import invoke, refused

TELL = """
import json, os
import patchkit
from patchkit import settings
found = [record for record in patchkit.report() if record.id in {"madeup-bug", "transformers-preflight"}]
print(json.dumps([{record.id: record.reason or record.status for record in found}, settings.current_choices()]))
"""


def told(world, *options: str, **env: str) -> tuple[dict[str, str], dict[str, str]]:
    # A child with an environment of its own has it from the one that was reached.
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {TELL!r}], env={{'PYTHONPATH': {world.environment()['PYTHONPATH']!r}}})"
    done = world.run(*options, "--", sys.executable, "-c", child, env=world.environment(**env))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    statuses, settings = json.loads(done.stdout)
    return statuses, settings


def test_relative_folders_hold_elsewhere(world) -> None:
    mine = world.write("mine/mine.py", (world.folder / "more_patches.py").read_text())
    mine.write_text(mine.read_text().replace("madeup-bug", "mine-bug"))
    tell = "import patchkit; print('mine-bug' in patchkit.report())"
    code = f"import os, subprocess, sys; os.chdir('/'); subprocess.run([sys.executable, '-c', {tell!r}])"
    env = world.environment(PATCHKIT_PATCHES="mine")
    done = world.run("--only", "mine-bug", "--", sys.executable, "-c", code, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_by_default(world) -> None:
    statuses, settings = told(world)
    assert statuses["madeup-bug"] == "waits for the import of 1 module"
    assert settings == {}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--only", "trl-*", "--only", "peft-*"], "left out by only="),
        (["--exclude", "trl-*", "--exclude", "madeup-bug"], "left out by exclude="),
        (["--exclude", "trl-*, madeup-bug"], "left out by exclude="),
    ],
)
def test_selections(world, options: list[str], reason: str) -> None:
    assert told(world, *options)[0]["madeup-bug"] == reason


def test_settings(world) -> None:
    options = ["--set", "madeup_choice=second", "--dtype", "fp16", "--preflight"]
    statuses, settings = told(world, *options)
    assert settings == {"madeup_choice": "second", "dtype": "float16"}
    assert "apply(preflight=True)" not in statuses["transformers-preflight"]


def test_patches(world) -> None:
    source = (world.folder / "more_patches.py").read_text()
    world.uninstall_patches()
    assert world.run("--", *world.probe).stdout == "buggy\n"
    file = world.write("own/a_patch.py", source)
    code = f"import os; os.chdir('/'); os.execv({world.probe[0]!r}, {world.probe})"
    done = world.run("--patches", "own", "--", sys.executable, "-c", code)
    assert done.stdout == "fixed\n", done.stderr
    done = world.run("--patches", str(file), "--only", "madeup-bag", "--", *world.probe)
    assert "Did you mean 'madeup-bug'" in done.stderr


@pytest.mark.parametrize(
    ("options", "env", "printed"),
    [
        ([], {}, "buggy"),
        (["--opt-in", "lookout"], {}, "fixed"),
        (["--opt-in", "other", "--opt-in", "preflight, lookout"], {}, "fixed"),
        (["--opt-in", "other"], {}, "buggy"),
        ([], {"PATCHKIT_LOOKOUT": "1"}, "fixed"),
        (["--only", "madeup-bug"], {}, "fixed"),
        (["--only", "trl-*", "--opt-in", "lookout"], {}, "fixed"),
        (["--opt-out", "lookout"], {"PATCHKIT_LOOKOUT": "1"}, "buggy"),
        (["--opt-out", "other, preflight"], {"PATCHKIT_LOOKOUT": "1"}, "fixed"),
    ],
)
@pytest.mark.parametrize("whose", ["of another distribution", "in a folder"])
def test_opting_in(world, options: list[str], env: dict[str, str], printed: str, whose) -> None:
    source = (world.folder / "more_patches.py").read_text()
    look = source.replace('title="fixed"', 'title="fixed", opt_in="lookout"')
    other = source.replace('title="fixed"', 'title="fixed", opt_in="other"')
    other = other.replace("madeup-bug", "madeup-other").replace("madeup:f", "madeup:bug")
    assert look != source
    world.write("own/other.py", other)
    folders = ["--patches", "own"]
    if whose == "in a folder":
        world.write("own/look.py", look)
        world.uninstall_patches()
    else:
        world.write("more_patches.py", look)
    environment = world.environment(**env)
    done = world.run(*folders, *options, "--", *world.probe, env=environment)
    assert (done.returncode, done.stdout) == (0, f"{printed}\n"), done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--opt-in", "preflihgt"], "--opt-in: no patch has the keyword 'preflihgt'. Did you mean"),
        (["--opt-in", "zzz"], "no patch has the keyword 'zzz'. There are: preflight"),
        (["--set", "preflight=1"], "; use --preflight. There are: adapter"),
        (["--opt-in", "adapter_cast"], "no patch has the keyword 'adapter_cast'."),
        (["--opt-in", "preflight", "--exclude", "transformers-*"], "contradict each other"),
        (["--only", "trl-adaptor-bf16-cast"], "Did you mean 'trl-adapter-bf16-cast'"),
        (["--exclude", "nothing-*"], "--exclude names no patch: 'nothing-*'."),
        (["--only", "trl-dora-magnitude", "--exclude", "trl-*"], "contradict each other"),
        (["--preflight", "--exclude", "transformers-*"], "contradict each other"),
        (["--set", "adapter_cast"], "--set takes NAME=VALUE, not 'adapter_cast'"),
        (["--set", "other=1"], "--set: no patch has a setting 'other'. There are: adapter_cast"),
        (["--set", "strict=1"], "; use --strict"),
        (["--opt-out", "preflihgt"], "--opt-out: no patch has the keyword 'preflihgt'. Did you"),
        (["--no-preflight", "--opt-in", "preflight"], "preflight is both switched on and switched"),
        (
            ["--opt-in", "preflight", "--opt-out", "preflight"],
            "is both switched on and switched off",
        ),
        (["--only", "transformers-preflight", "--no-preflight"], "preflight=False and only="),
        (["--no-legacy", "--written-for", "trl==0.11.4"], "--no-legacy contradict each other"),
        (["--set", "adapter_cast=fp8"], "--set adapter_cast must be one of "),
        (["--dtype", "fp8"], "'fp8' is not one of 'fp16', 'bf16', 'fp32'"),
        (["--patches", "nowhere"], "'nowhere' does not exist"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_refused_before_the_command(options: list[str], message: str, monkeypatch) -> None:
    monkeypatch.setattr(launch, "launch", lambda *_: pytest.fail("the command runs"))
    before = [record.status for record in patchkit.report()]
    refused(invoke("run", *options, "--", "true"), message)
    assert [record.status for record in patchkit.report()] == before


def test_variables_are_checked_too(world) -> None:
    done = world.run("--", *world.probe, env=world.environment(PATCHKIT_DISABLE="madeup-bag"))
    assert done.returncode == 64
    assert "PATCHKIT_DISABLE" in done.stderr


@pytest.mark.parametrize("strict", [True, False])
def test_drift(world, strict: bool) -> None:
    """A place that is not as expected: told before the script starts where it shows there."""
    world.write("madeup.py", "def f():\n    return 'something else'\n")
    options = ["--strict"] if strict else []
    done = world.run(*options, "--", *world.probe)
    if strict:  # it shows as the module is imported, and is raised there
        assert done.returncode == 1
        assert "PatchError" in done.stderr
        assert done.stdout == ""
    else:
        assert done.returncode == 0
        assert "PatchWarning: patch madeup-bug drifted" in done.stderr
        assert done.stdout == "something else\n"


@pytest.mark.parametrize("strict", [True, False])
def test_drift_at_the_start(world, strict: bool) -> None:
    (world.folder / "madeup.py").rename(world.folder / "moved.py")
    world.write("mad.py", "print('the script runs')")
    options = ["--strict"] if strict else []
    done = world.run(*options, "--", sys.executable, "mad.py")
    if strict:
        assert done.returncode == 78
        assert done.stdout == ""
        assert "patchkit run: process " in done.stderr
        assert "madeup-bug drifted: madeup 1.0 has no module madeup" in done.stderr
        assert "Traceback" not in done.stderr
    else:
        assert done.returncode == 0
        assert done.stdout == "the script runs\n"
        assert done.stderr == ""  # nobody imports the library


def test_drift_where_warnings_are_errors(world) -> None:
    (world.folder / "madeup.py").rename(world.folder / "moved.py")
    env = world.environment(PYTHONWARNINGS="error")
    done = world.run("--verbose", "--", sys.executable, "-c", "print('it runs')", env=env)
    assert (done.returncode, done.stdout) == (0, "it runs\n")
    assert "PatchWarning: patch madeup-bug drifted" in done.stderr
    assert "runs without patchkit" not in done.stderr
    assert "1 drifted" in done.stderr


def test_verbose(world) -> None:
    child = [sys.executable, "-c", "pass"]
    done = world.run(
        "-v", "--", sys.executable, "-c", f"import subprocess; subprocess.run({child})"
    )
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("patchkit run: process ") for line in lines)
    assert all("1 pending" in line for line in lines)
    assert "-c pass)" in lines[1]


def test_the_script_may_call_patchkit(world) -> None:
    code = """
import madeup, patchkit
found = [madeup.f()]
patchkit.revert()
found.append(madeup.f())
assert "madeup-bug" in patchkit.apply().changed
found.append(madeup.f())
assert patchkit.report()["madeup-bug"].status == "applied"
print(*found)
"""
    assert world.run("--", sys.executable, "-c", code).stdout == "fixed buggy fixed\n"


@pytest.mark.parametrize(
    ("options", "variables", "on"),
    [
        (["--legacy", "--preflight"], {}, "pl"),
        ([], BOTH, "pl"),
        (["--no-legacy", "--no-preflight"], BOTH, ""),
        (["--no-legacy"], BOTH, "p"),
        (["--opt-out", "preflight"], BOTH, "l"),
    ],
)
@pytest.mark.parametrize("child", [True, False], ids=["child", "itself"])
def test_on_and_off(world, options: list[str], variables, on: str, child: bool) -> None:
    """In an interpreter of the command and in its children, whose environment says another thing."""
    old_library.write(world.folder)
    code = f"{old_library.SEE}\npatchkit.apply()\nprint(see())"
    env = world.environment(**variables)
    if child:
        own = {"PYTHONPATH": env["PYTHONPATH"], **variables}
        code = (
            f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], env={own!r})"
        )
    done = world.run(*options, "--", sys.executable, "-c", code, env=env)
    assert (done.returncode, done.stdout) == (0, f"{on}\n"), done.stderr


def test_the_layer_for_old_scripts(world) -> None:
    tell = "import patchkit; print(patchkit.report().legacy)"
    done = world.run("--legacy", "--", sys.executable, "-c", tell)
    assert (done.returncode, done.stderr) == (0, "")
    refused = world.run("--legacy", "--written-for", "old", "--", sys.executable, "-c", tell)
    assert refused.returncode == 64
    assert "--written-for 'old' names no versions in 'old'" in refused.stderr
