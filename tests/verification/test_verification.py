"""`patchkit verify`, with patches of a made-up library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from ..madeup_addons import ADDONS, addon, command, needing
from ..processes import python_path, run_python

__all__ = ["command"]

WITH_STATUS: dict[str, tuple[str, int]] = {
    "fixed": ("fixed", 0),
    "not-affected": ("not-affected", 0),
    "not-fixed": ("not-fixed", 1),
    "drifts": ("not-fixed", 1),
    "not-reproduced": ("not-reproduced", 2),
    "other-error": ("error", 1),
    "made-worse": ("made-worse", 1),
    "needs-cuda": ("needs-cuda", 0),
    "needs-avx": ("needs-avx512-bf16", 0),
    "needs-both": ("needs-avx512-bf16", 0),
    "needs-the-second": ("needs-cuda", 0),
    "has-all": ("fixed", 0),
    "in-part": ("needs-avx512-bf16", 0),
    "in-part-not-fixed": ("not-fixed", 1),
    "in-part-not-shown": ("not-reproduced", 2),
    "in-part-other-error": ("error", 1),
    "part-not-needed": ("fixed", 0),
    "no-reproducer": ("error", 1),
    "dies": ("error", 1),
}

SAID = {
    "fixed": ("ValueError: bug 1", "no error"),
    "needs-cuda": ("the reproducer needs a GPU", ""),
    "needs-both": ("the reproducer needs a CPU with AVX512-BF16 and a GPU", ""),
    "needs-the-second": ("the reproducer needs a GPU", ""),
    "in-part": ("ValueError: bug 1", "no error"),
}
"""What is said of a verdict: without the patch, and with it."""

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("name", WITH_STATUS)
def test_verify(command, name: str) -> None:
    outcome, status = WITH_STATUS[name]
    file = name.replace("-", "_")
    done = command("verify", f"addon-{name}", "--json", addons={file: ADDONS[file]})
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert (verdict["id"], verdict["outcome"]) == (f"addon-{name}", outcome), verdict
    assert done.returncode == status
    was_run = name not in ("no-reproducer", "not-affected") and outcome != "not-affected"
    assert done.stderr == (f"{outcome:<15} addon-{name}\n" if was_run else "")
    if name == "drifts":
        assert verdict["with_patch"].endswith("madeup 1.2.0 has no module madeup.gone")
    if name in SAID:
        assert (verdict["without"], verdict["with_patch"]) == SAID[name]


def test_what_a_machine_lacks_for_people(command) -> None:
    addons = {name: ADDONS[name] for name in ("needs_both", "in_part", "fixed")}
    done = command("verify", "addon-*", addons=addons)
    assert (done.returncode, [line.rstrip() for line in done.stdout.splitlines()]) == (
        0,
        [
            "patchkit: 2 needs-avx512-bf16, 1 fixed",
            "needs-avx512-bf16  addon-in-part",
            "                   fixed as far as it shows without a CPU with AVX512-BF16",
            "                   without it: ValueError: bug 1",
            "needs-avx512-bf16  addon-needs-both",
            "                   not run",
            "                   without it: the reproducer needs a CPU with AVX512-BF16 and",
            "                   a GPU",
            "fixed              addon-fixed",
            "                   reproduced, fixed",
            "                   without it: ValueError: bug 1",
        ],
    )


EVERYWHERE = {
    "present": addon("present", 1, affects="<1"),
    "gone": addon("gone", -3, affects="<1"),
    "cannot_run": addon("cannot-run", 1, affects="<1", symptom="another message"),
    "fixed": ADDONS["fixed"],
    "absent": ADDONS["absent"],
    "lacking": needing("lacking", ("cuda",), affects="<1"),
    "in_part": needing("in-part", ("cuda",), affects="<1", part=1),
    # What is not shown in part may show on a better machine.
    "not_in_part": needing("not-in-part", ("cuda",), affects="<1", part=-3),
}


@pytest.mark.parametrize("fork", [False, True])
def test_verify_everywhere(command, fork: bool) -> None:
    """Where a patch is not due its reproducer says whether that is right."""
    options = ["--everywhere", "--json", *(["--fork"] if fork else [])]
    done = command("verify", "addon-*", *options, addons=EVERYWHERE)
    verdicts = {
        verdict["id"]: verdict["outcome"] for verdict in json.loads(done.stdout)["verdicts"]
    }
    assert verdicts == {
        "addon-present": "present",
        "addon-gone": "absent",
        "addon-cannot-run": "not-affected",
        "addon-fixed": "fixed",
        "addon-absent": "not-affected",
        "addon-lacking": "not-affected",
        "addon-in-part": "present",
        "addon-not-in-part": "not-affected",
    }
    assert done.returncode == 0


def test_forks_come_to_the_same(command) -> None:
    names = ("fixed", "not-fixed", "not-reproduced", "drifts", "dies")
    files = [name.replace("-", "_") for name in names]
    done = command(
        "verify", "addon-*", "--json", "--fork", addons={file: ADDONS[file] for file in files}
    )
    found = {verdict["id"]: verdict for verdict in json.loads(done.stdout)["verdicts"]}
    outcomes = {name: verdict["outcome"] for name, verdict in found.items()}
    assert outcomes == {f"addon-{name}": WITH_STATUS[name][0] for name in names}
    assert done.returncode == 1
    assert found["addon-dies"]["without"] == "error: died with exit code 3"
    drifted = found["addon-drifts"]["with_patch"]
    assert drifted.startswith("error: PatchError: ")
    assert drifted.endswith("madeup 1.2.0 has no module madeup.gone")


def test_verify_for_people(command) -> None:
    names = ("not_affected", "fixed", "not_reproduced", "not_fixed")
    addons = {name: ADDONS[name] for name in names}
    done = command("verify", "addon-*", addons=addons)
    assert done.returncode == 1
    assert [line.rstrip() for line in done.stdout.splitlines()] == [
        "patchkit: 1 not-fixed, 1 not-reproduced, 1 fixed",
        "not-fixed       addon-not-fixed",
        "                reproduced, NOT fixed",
        "                without it: ValueError: bug 2",
        "                with it: ValueError: bug 22",
        "not-reproduced  addon-not-reproduced",
        "                not reproduced here: it may be fixed upstream",
        "fixed           addon-fixed",
        "                reproduced, fixed",
        "                without it: ValueError: bug 1",
        "not due here: addon-not-affected",
    ]


def test_verify_fits_a_terminal(command) -> None:
    # The other outcomes are shown above as they stand, none wider.
    names = ("dies", "drifts", "in_part_other_error", "made_worse", "needs_both", "no_reproducer")
    addons = {name: ADDONS[name] for name in names}
    done = command("verify", "addon-*", "--fork", addons=addons, env={"COLUMNS": "80"})
    assert all(f"addon-{name.replace('_', '-')}" in done.stdout for name in names)
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= 80


def test_verify_from_python(command, tmp_path) -> None:
    """As in a script: the arguments, the table, and that nothing is applied here."""
    command("report", addons={name: ADDONS[name] for name in ("fixed", "not_affected")})
    code = """
import patchkit
found = patchkit.verify("addon-*")
print([verdict.outcome for verdict in found], found.exit_status)
print(repr(found), "addon-fixed" in str(found), "<table>" in found._repr_html_())
print(found.to_dict()["schema"], found.to_dict()["environment"]["versions"]["madeup"])
print({str(record.status) for record in patchkit.report() if record.id == "addon-fixed"})
"""
    done = run_python("-c", code, folder=tmp_path, PYTHONPATH=python_path(tmp_path))
    assert done.stdout.splitlines() == [
        "['fixed', 'not-affected'] 0",
        "<Verification: 1 fixed> True True",
        "1 1.2.0",
        "{'available'}",
    ], done.stderr


def test_verify_beside_a_broken_definition(command) -> None:
    addons = {"fixed": ADDONS["fixed"], "bad": "raise ZeroDivisionError"}
    done = command("verify", "addon-fixed", "--json", addons=addons)
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["outcome"] == "fixed", verdict


def test_verify_where_a_version_does_not_parse(command, library) -> None:
    library.release("unknown")
    done = command("verify", "addon-fixed", "--json", addons={"fixed": ADDONS["fixed"]})
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 64)
    assert "'unknown' is not a version" in done.stdout + done.stderr


def test_unknown_id_in_a_real_process(command) -> None:
    done = command("verify", "no-such-patch", addons={})
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: IDS names no patch: 'no-such-patch'")
