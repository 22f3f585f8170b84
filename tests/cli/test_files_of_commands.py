"""Files and folders that a user names and that are not as they must be: a line, before any work."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import Result

from ..processes import run
from .conftest import invoke, refused

OLD = "from trl import SFTTrainer\n\nSFTTrainer(m, a, tokenizer=t)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "a-folder").mkdir()
    return tmp_path


def check(result: Result, said: str) -> None:
    assert refused(result, said) == f"Error: {said}"
    assert Path("old.py").read_text() == OLD


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "matrix scan --file none/x.yaml",
            "--file none/x.yaml: there is no folder none; make it first",
        ),
        ("verify --output old.py/x.json", "--output old.py/x.json: old.py: File exists"),
        ("legacy show --format text --json", "--json and --format text contradict each other"),
        ("modernize --check --write old.py", "--write and --check contradict each other"),
        ("modernize old.py none.py --write", "there is no none.py"),
        (
            "modernize a-folder",
            "there is no script in a-folder: no file ends in .py, .ipynb, .yaml, .yml, .sh",
        ),
    ],
)
def test_a_contradiction_or_a_file_that_cannot_be(command: str, said: str, madeup: None) -> None:
    check(invoke(*command.split()), said)


@pytest.mark.parametrize("command", ["doctor", "modernize --write"])
def test_an_empty_name_is_not_this_folder(command: str) -> None:
    result = invoke(*command.split(), "")
    assert (result.exit_code, result.stdout) == (64, "")
    assert result.stderr.endswith(": the name is empty; write `.` for this folder\n")
    assert Path("old.py").read_text() == OLD


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
@pytest.mark.parametrize("command", ["doctor", "modernize"])
def test_a_pipe_is_not_waited_for(command: str) -> None:
    os.mkfifo("pipe.py")
    check(invoke(command, "pipe.py"), "pipe.py is no file")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permissions")
@pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is closed to root"
)
def test_a_closed_folder(folder: Path) -> None:
    closed = folder / "a-folder"
    closed.chmod(0)
    try:
        check(invoke("modernize", "a-folder/.."), "a-folder/.. cannot be read: Permission denied")
        check(invoke("modernize", "."), "./a-folder cannot be read: Permission denied")
    finally:
        closed.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_that_leads_to_itself() -> None:
    os.symlink("loop.py", "loop.py")
    check(
        invoke("modernize", "loop.py"), "loop.py cannot be read: Too many levels of symbolic links"
    )


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_error_message(text: str) -> None:
    check(invoke("explain", text), "the error message is empty")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--written-for", " "], "--written-for is empty; for instance: 'trl==0.11.4'"),
        (
            ["--written-for", "trl"],
            "--written-for 'trl' names no versions in 'trl'; write them as 'trl==0.11.4, "
            "transformers==4.44.2'",
        ),
        (
            ["--only", "madeup-cast", "--exclude", "madeup-c*"],
            "--only and --exclude contradict each other: both name madeup-cast",
        ),
    ],
)
def test_messages_of_run_name_its_options(arguments: list[str], said: str, madeup: None) -> None:
    check(invoke("run", *arguments, "--", sys.executable, "-c", "1"), said)


def test_what_the_table_does_not_have() -> None:
    result = invoke("legacy", "show", "nosuchname")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "The table has no row with nosuchname.\n"
    assert (
        invoke("legacy", "show", "sfttrainer").stdout
        == invoke("legacy", "show", "SFTTrainer").stdout
    )


@pytest.mark.skipif(os.name == "nt", reason="its shell does not close a stream like this")
@pytest.mark.parametrize("command", ["diff trl-adapter-bf16-cast", "list", "run -- true"])
def test_a_closed_output(command: str) -> None:
    done = run("sh", "-c", f'"$0" -m patchkit {command} >&-', sys.executable)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 69)
