"""`patchkit verify` and `patchkit matrix record`, with patches of a made-up library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchkit.matrix import read

from ..madeup_bug import patch_file

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
    symptom = given.pop("symptom", f"bug {number}")
    return "import os\n" + patch_file(
        f"addon-{name}",
        pattern=f"bug({number})",
        fixed=f"bug({given.pop('becomes', 0)})",
        more=f'symptom="{symptom}",',
        **{"reproduce": REPRODUCE.format(number=number), **given},
    )


MACHINE = """
from patchkit.verification.machine import PROBES
for name in PROBES:
    PROBES[name] = lambda met=name not in {lacking}: met
"""


def needing(
    name: str,
    requires: tuple[str, ...],
    *,
    lacking: tuple[str, ...] = ("cuda", "avx512-bf16"),
    part: object = None,
    affects: str = ">=1",
) -> str:
    """A patch that needs something, on a machine that lacks something."""
    source = addon(name, 1, affects=affects, symptom="bug")
    source = source.replace("symptom=", f"requires={requires}, symptom=")
    shown = "" if part is None else REPRODUCE.format(number=part).replace("(", "_anywhere(", 1)
    return f"{MACHINE.format(lacking=lacking)}{source}{shown}\n"


ADDONS = {
    "fixed": addon("fixed", 1),
    "not_fixed": addon("not-fixed", 2, becomes=22, symptom="bug 2"),
    "drifts": addon("drifts", 2, target="madeup.gone:f"),
    "not_reproduced": addon("not-reproduced", -3),
    "made_worse": addon(
        "made-worse", -3, becomes=33, symptom="bug", reproduce=REPRODUCE.format(number=3)
    ),
    "not_affected": addon("not-affected", 1, affects="<1"),
    "other_error": addon("other-error", 4, symptom="another message"),
    "needs_cuda": needing("needs-cuda", ("cuda",)),
    "needs_avx": needing("needs-avx", ("avx512-bf16",)),
    "needs_both": needing("needs-both", ("avx512-bf16", "cuda")),
    "needs_the_second": needing("needs-the-second", ("avx512-bf16", "cuda"), lacking=("cuda",)),
    "has_all": needing("has-all", ("avx512-bf16", "cuda"), lacking=()),
    "in_part": needing("in-part", ("avx512-bf16",), part=1),
    "in_part_not_fixed": needing("in-part-not-fixed", ("avx512-bf16",), part=2),
    "in_part_not_shown": needing("in-part-not-shown", ("avx512-bf16",), part=-3),
    "in_part_other_error": needing("in-part-other-error", ("avx512-bf16",), part="1, 2"),
    "part_not_needed": needing("part-not-needed", ("avx512-bf16",), part=2, lacking=()),
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
    "fixed": ("fixed", 0),
    "not-affected": ("not-affected", 0),
    "not-fixed": ("not-fixed", 1),
    "drifts": ("not-fixed", 1),
    "not-reproduced": ("not-reproduced", 2),
    "other-error": ("error", 1),
    "made-worse": ("error", 1),
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


@pytest.fixture
def command(library, patchkit_command, tmp_path: Path) -> Command:
    """Runs `patchkit …` where the made-up library and patches of it are installed."""
    library.write("trainer", TRAINER)

    def run(*arguments: str, addons: dict[str, str], env: Any = None) -> Any:
        (tmp_path / "addon").mkdir(exist_ok=True)
        for name, source in addons.items():
            (tmp_path / "addon" / f"{name}.py").write_text(source)
        info = tmp_path / "addon-3.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: addon\nVersion: 3.0\n")
        installed = sorted(file.stem for file in (tmp_path / "addon").glob("*.py"))
        points = "".join(f"{name} = addon.{name}\n" for name in installed)
        (info / "entry_points.txt").write_text(f"[patchkit.patches]\n{points}")
        return patchkit_command(*arguments, **(env or {}))

    return run


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
            "fixed             addon-fixed",
            "                   reproduced, fixed",
            "                   without it: ValueError: bug 1",
        ],
    )


def test_a_machine_that_lacks_something_in_the_matrix(command, tmp_path) -> None:
    file = tmp_path / "m.yaml"
    addons = {"in_part": ADDONS["in_part"]}
    done = command("matrix", "record", "--file", str(file), "--id", "addon-*", addons=addons)
    assert done.returncode == 0, done.stderr
    (result,) = read(file).results
    assert (result.outcome, result.note) == ("needs-avx512-bf16", "")
    shown = command("matrix", "show", "--file", str(file), addons={}).stdout
    assert "never run to an end (needs-avx512-bf16)" in shown


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
        "not-fixed      addon-not-fixed",
        "                reproduced, NOT fixed",
        "                without it: ValueError: bug 2",
        "                with it: ValueError: bug 22",
        "not-reproduced  addon-not-reproduced",
        "                not reproduced here: it may be fixed upstream",
        "fixed          addon-fixed",
        "                reproduced, fixed",
        "                without it: ValueError: bug 1",
        "not due here: addon-not-affected",
    ]


def test_verify_fits_a_terminal(command) -> None:
    done = command("verify", "addon-*", addons=ADDONS, env={"COLUMNS": "80"})
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
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        check=False,
    )
    assert done.stdout.splitlines() == [
        "['fixed', 'not-affected'] 0",
        "<Verification: 1 fixed> True True",
        "2 1.2.0",
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


def test_record(command, tmp_path) -> None:
    file = tmp_path / "m.yaml"
    names = ("fixed", "not_fixed", "not_affected", "absent")
    addons = {name: ADDONS[name] for name in names}
    done = command("matrix", "record", "--file", str(file), "--id", "addon-*", addons=addons)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "fixed          addon-fixed",
        "not-fixed      addon-not-fixed",
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
    done = command("verify", "addon-*", "--output", str(measured), addons=addons)
    assert done.returncode == 0
    content = json.loads(measured.read_text())
    content["environment"] |= {"device": "NVIDIA T4", "date": "2026-01-02"}
    content["environment"]["versions"]["madeup"] = "1.1.0"
    measured.write_text(json.dumps(content))
    left = {"name": "2", "versions": {"madeup": "2"}, "date": "2026-01-02", "problem": "no such"}
    (tmp_path / "2.json").write_text(json.dumps({"unmeasured": left}))
    done = command("matrix", "record", "deep/1.json", "2.json", "--file", str(file), addons={})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "fixed          addon-fixed",
        "not measured    2: no such",
    ]
    found = read(file)
    (result,) = found.results
    assert (result.environment.device, result.environment.date) == ("NVIDIA T4", "2026-01-02")
    assert [version_set.problem for version_set in found.unmeasured] == ["no such"]


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
    done = command("matrix", "record", "bad.json", "--file", "m.yaml", addons={})
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
    command("matrix", "record", "--file", str(file), "--id", "addon-*", addons={"a": source})
    (result,) = read(file).results
    assert result.note == "ValueError: bug in madeup/trainer.py"


def test_record_where_nothing_can_be_written(command, tmp_path) -> None:
    file = tmp_path / "no" / "such" / "folder" / "m.yaml"
    addons = {"fixed": ADDONS["fixed"]}
    done = command("matrix", "record", "--file", str(file), "--id", "addon-*", addons=addons)
    assert "Traceback" not in done.stderr
    assert done.returncode == 64
    assert "m.yaml" in done.stderr


def test_unknown_id_in_a_real_process(command) -> None:
    done = command("verify", "no-such-patch", addons={})
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: IDS names no patch: 'no-such-patch'")
