"""`patchkit completion`, and what completes."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from patchkit.cli import main

from ..processes import run
from .conftest import invoke


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script(shell: str) -> None:
    result = invoke("completion", shell)
    assert result.exit_code == 0
    assert f"_PATCHKIT_COMPLETE={shell}_complete" in result.stdout
    assert "patchkit" in result.stdout


def test_no_such_shell() -> None:
    assert invoke("completion", "tcsh").exit_code == 64


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "exp", ["explain"]),
        (["matrix"], "sc", ["scan"]),
        (["list"], "--d", ["--due"]),
        (["explain"], "madeup-", ["madeup-cast", "madeup-fixed", "madeup-asked", "madeup-wrap"]),
        (["explain", "madeup-cast"], "madeup-c", []),
        (["diff"], "ab", ["absent-bug"]),
        (["verify"], "ab", ["absent-bug"]),
        (["matrix", "scan"], "ab", ["absent-bug"]),
        (["list"], "zzz", []),
        (["run", "--only"], "ab", ["absent-bug"]),
        (["run", "--", "python"], "tra", ["tra"]),  # which the shell completes to files
    ],
)
def test_what_completes(madeup, words: list[str], incomplete: str, expected: list[str]) -> None:
    completing = ShellComplete(main, {}, "patchkit", "_PATCHKIT_COMPLETE")
    found = completing.get_completions(words, incomplete)
    assert [item.value for item in found] == expected


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_takes_it(tmp_path: Path) -> None:
    program = tmp_path / "patchkit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m patchkit "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(patchkit completion bash)"
        COMP_WORDS=(patchkit explain trl-adapter) COMP_CWORD=2
        _patchkit_completion patchkit
        echo "${COMPREPLY[@]}"
    """
    done = run("bash", "-c", f"PATH={shlex.quote(str(tmp_path))}:$PATH\n{script}")
    assert (done.stdout, done.stderr) == ("trl-adapter-bf16-cast\n", "")
