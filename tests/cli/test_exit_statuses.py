"""How commands end: bad usage, Ctrl-C, a closed pipe, a terminal of few letters."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from patchkit.cli.commands import COMMANDS, SECTIONS, main
from patchkit.cli.exit_statuses import USAGE
from patchkit.cli.group import LazyGroup
from patchkit.errors import PatchError

from ..processes import run_python
from .conftest import invoke, patch

EVERY = [*sorted(set(COMMANDS) - {"matrix"}), "matrix show", "matrix scan", "matrix check"]


@pytest.mark.parametrize("command", ["", "matrix", *EVERY])
def test_bad_usage_is_64_everywhere(command: str) -> None:
    result = invoke(*command.split(), "--no-such-option")
    assert result.exit_code == USAGE, result.output
    assert "Traceback" not in result.output
    assert result.stdout == ""


@pytest.mark.parametrize(
    "command", ["--help", *(f"{name} --help" for name in COMMANDS if name != "matrix")]
)
def test_help_fits_and_teaches(command: str) -> None:
    result = invoke(*command.split())
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert re.search(r"^    (\w+ +)?patchkit ", result.stdout, re.MULTILINE)


def test_every_command_stands_in_a_section() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)
    text = invoke("--help").stdout
    for name in COMMANDS:
        assert re.search(f"^  {name} +[A-Z]", text, re.MULTILINE), name
    for status in ("0", "1", "2", "64", "130", "141"):
        assert re.search(f"^    {status} +[a-z]", text, re.MULTILINE), status


@pytest.mark.parametrize("arguments", [["rport"], ["diff", "no-such"], ["report", "--jsno"], []])
def test_python_m_ends_alike(arguments: list[str]) -> None:
    done = run_python("-m", "patchkit", *arguments)
    assert done.returncode == invoke(*arguments).exit_code
    assert "Traceback" not in done.stderr
    if arguments:
        assert done.returncode == USAGE
        assert done.stderr.splitlines()[-1].startswith("Error: ")


class Raising(LazyGroup):
    """A group of one command, which raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__("patchkit", modules={"boom": "boom"})
        self.error = error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        def boom() -> None:
            raise self.error

        return click.Command("boom", callback=boom)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (KeyboardInterrupt("Go on."), 130, "Interrupted. Go on.\n"),
        (PatchError("what was wrong"), 64, "Error: what was wrong\n"),
        (click.UsageError("no such thing"), 64, "Error: no such thing\n"),
        (click.ClickException("not usage"), 1, "Error: not usage\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
        (OSError(errno.ENOSPC, "No space left"), 74, "Error: cannot write: No space left\n"),
        (SystemExit(3), 3, ""),
        (click.exceptions.Exit(5), 5, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_how_errors_end(error: BaseException, status: int, said: str) -> None:
    result = CliRunner().invoke(Raising(error), ["boom"])
    assert (result.exit_code, result.stdout) == (status, "")
    assert result.stderr.endswith(said)
    assert result.stderr.count("\n") <= 1 or "Usage" in result.stderr


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("a bug of patchkit"), OSError(errno.EIO, "no such luck")]
)
def test_what_is_no_fault_of_the_user_is_not_hidden(error: Exception) -> None:
    assert CliRunner().invoke(Raising(error), ["boom"]).exception is error


def test_ctrl_c_in_a_real_process() -> None:
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import patchkit\n"
        "from patchkit.cli import main\n"
        "def wait():\n    import time; print('waiting', flush=True); time.sleep(3600)\n"
        "patchkit.report = wait\n"
        "sys.argv = ['patchkit', 'report']\n"
        "main(prog_name='patchkit')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
    assert (process.returncode, said) == (130, "Interrupted.\n")


@pytest.mark.parametrize("command", [["report"], ["list"], ["explain", "*"], ["report", "--json"]])
def test_a_closed_pipe(command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "patchkit", *command],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk")
@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["report"]])
def test_a_full_disk(command: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "patchkit", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 74
    assert done.stderr == "Error: cannot write: No space left on device\n"


@pytest.mark.parametrize("command", [["report"], ["list"], ["explain", "a-a"], ["diff"]])
def test_letters_that_the_terminal_lacks(use, command: list[str]) -> None:
    use(patch("a-a", title="\u5b57 of it"))
    result = CliRunner(charset="cp1252").invoke(main, command)
    assert (result.exit_code, result.exception) == (0, None)
    assert "? of it" in result.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("command", [["report"], ["list"], ["explain", "*"], ["matrix", "show"]])
def test_a_terminal_of_few_letters(command: list[str], encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "patchkit", *command],
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode(encoding)


def test_the_command_is_named_alike_in_its_help() -> None:
    done = run_python("-m", "patchkit", "report", "--help")
    assert done.stdout.startswith("Usage: patchkit report")
