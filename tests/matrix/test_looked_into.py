"""What `matrix show` lists as to be looked into, `check` finds; and nothing else, and of the shipped matrix nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from patchkit.catalogue import entries as catalogue
from patchkit.cli import main
from patchkit.matrix.file import default_path, read, write
from patchkit.matrix.records import Environment, Matrix, Result, Scan
from patchkit.matrix.show.selection import select
from workbench.record.check_command import check

PATCH = "trl-fused-loss-without-triton"
SCANS = tuple(
    Scan("trl", version, "2026-01-01", {PATCH: state})
    for version, state in {"1.14.2": "absent", "1.15.0": "matches", "1.16.0": "absent"}.items()
)
LIKE = Scan("trl", "1.15.0", "2026-01-01", {PATCH: "matches"}, unlisted={PATCH: ["trl.x:f"]})


def run(outcome: str, trl: str, note: str = "", patch: str = PATCH) -> Result:
    where = Environment({"trl": trl}, "3.11", "linux", "cpu", "2026-01-01")
    return Result(patch, outcome, where, note)


# Each but the last agrees with the claim of the patch.
LISTED: dict[str, tuple[Matrix, str]] = {
    "unlisted": (
        Matrix(scans=(SCANS[0], LIKE, SCANS[2])),
        "trl 1.15.0: unlisted: the patch does not name trl.x:f, which has the same code",
    ),
    "not fixed": (
        Matrix((run("not-fixed", "1.15.0", "OSError: no"),), SCANS),
        "trl 1.15.0: not-fixed: OSError: no",
    ),
    "made worse": (
        Matrix((run("made-worse", "1.15.0", "OSError: no"),), SCANS),
        "trl 1.15.0: made-worse: OSError: no",
    ),
    "claimed more once": (
        Matrix((run("not-reproduced", "1.14.2", "no error"),), SCANS),
        "trl 1.14.2: not-reproduced: no error",
    ),
    "present": (
        Matrix((run("present", "1.14.2", "OSError: no"),), SCANS),
        "trl 1.14.2: present: OSError: no",
    ),
}
OF_NO_CONCERN = {
    "agree": Matrix(scans=SCANS),
    "runs agree": Matrix((run("fixed", "1.15.0"), run("absent", "1.16.0")), SCANS),
    # It tells nothing of the bug: what the claim needs was read.
    "came to no end": Matrix((run("error", "1.15.0", "OSError: no"),), SCANS),
}


def checked(folder: Path, matrix: Matrix, *arguments: str) -> Any:
    write(folder / "m.yaml", matrix)
    return CliRunner().invoke(check, [*arguments, "--file", str(folder / "m.yaml")])


def shown(folder: Path, *arguments: str) -> list[str]:
    file = str(folder / "m.yaml")
    given = ["matrix", "show", *arguments, "--json", "--file", file]
    done = CliRunner().invoke(main, given, catch_exceptions=False)
    return json.loads(done.stdout)["to_be_looked_into"]


@pytest.mark.parametrize("case", LISTED)
def test_what_is_listed_is_found(tmp_path: Path, case: str) -> None:
    matrix, note = LISTED[case]
    done = checked(tmp_path, matrix, PATCH)
    assert shown(tmp_path, PATCH) == [f"{PATCH}, {note}"]
    assert done.exit_code == 1
    assert f"To be looked into: {PATCH}, {note}" in done.stdout.splitlines()


@pytest.mark.parametrize("case", LISTED)
def test_found_as_json(tmp_path: Path, case: str) -> None:
    matrix, _ = LISTED[case]
    done = checked(tmp_path, matrix, PATCH, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["to_be_looked_into"] == shown(tmp_path, PATCH)


@pytest.mark.parametrize("case", OF_NO_CONCERN)
def test_what_is_not_listed_is_not_found(tmp_path: Path, case: str) -> None:
    done = checked(tmp_path, OF_NO_CONCERN[case], PATCH)
    assert shown(tmp_path, PATCH) == []
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 1)


def test_of_patches_that_were_not_asked_for_nothing_is_said(tmp_path: Path) -> None:
    other = run("not-fixed", "1.15.0", patch="trl-bema-half-precision")
    assert checked(tmp_path, Matrix((other,), SCANS), PATCH).exit_code == 0


def test_a_patch_that_is_gone_is_listed_and_found(tmp_path: Path) -> None:
    done = checked(tmp_path, Matrix((run("not-fixed", "1.15.0", patch="trl-gone"),), SCANS))
    assert "To be looked into: trl-gone, trl 1.15.0: not-fixed: " in done.stdout
    assert [line.partition(",")[0] for line in shown(tmp_path)] == ["trl-gone"]


@pytest.mark.parametrize("by", ["release", "set"])
def test_nothing_of_the_shipped_matrix_is_to_be_looked_into(by: str) -> None:
    assert select(read(default_path()), catalogue.load(), by=by).remarks == ()
