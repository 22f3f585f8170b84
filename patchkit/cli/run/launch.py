"""Find a command and become it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence

from ...errors import PatchError

NOT_EXECUTABLE = 126
NOT_FOUND = 127


class CannotRunError(PatchError):
    """The command cannot be started; `status` is the exit status that a shell has for it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def launch(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command in place of this process: signals, terminal and exit status are its own.

    Returns:
        its exit status on Windows, where a process cannot become another; elsewhere it never
        returns.

    Raises:
        CannotRunError: there is no such program, or it cannot be run.
    """
    program, on_path = find_program(command[0])
    # Python looks for its environment on PATH, by the name it was called with.
    arguments = [command[0] if on_path else program, *command[1:]]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:  # closed by `>&-`
                stream.flush()
    try:
        if os.name == "nt":
            return _wait_for(program, arguments, environment)
        _restore_signals()
        os.execve(program, arguments, environment)
    except OSError as error:
        raise CannotRunError(NOT_EXECUTABLE, f"{command[0]}: {error.strerror}") from None


def find_program(name: str) -> tuple[str, bool]:
    """Return the path of a program, and whether it is on PATH.

    A program that is not on PATH is looked for beside this Python, for environments that were not
    activated.

    Raises:
        CannotRunError: there is none, or it is not executable.
    """
    if path := shutil.which(name):
        return path, True
    if not os.path.dirname(name):
        beside = shutil.which(name, path=os.path.dirname(os.path.abspath(sys.executable)))
        if beside:
            return beside, False
    hint = f"; did you mean: patchkit run -- python {name}" if name.endswith(".py") else ""
    if os.path.isdir(name) and os.path.dirname(name):
        raise CannotRunError(NOT_EXECUTABLE, f"{name}: is a directory")
    if os.path.isfile(name) and (hint or os.path.dirname(name)):
        raise CannotRunError(NOT_EXECUTABLE, f"{name}: cannot be run as a command{hint}")
    if not os.path.isfile(name):
        hint = _hint(name)
    raise CannotRunError(NOT_FOUND, f"{name}: command not found{hint}")


def _hint(name: str) -> str:
    """Return a hint for a name that only a shell would understand."""
    variable, sign, _ = name.partition("=")
    if sign and variable.isidentifier():
        return f"; did you mean: patchkit run -- env {name} COMMAND"
    if " " in name:
        return "; give the command and its arguments as separate words, without quotes"
    return ""


def _restore_signals() -> None:
    """Restore the signals that Python ignores; the command would inherit that."""
    for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _wait_for(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    import subprocess

    with subprocess.Popen(arguments, executable=program, env=dict(environment)) as process:
        while True:
            # Ctrl-C goes to the command as well, which decides what to do about it.
            with contextlib.suppress(KeyboardInterrupt):
                return process.wait()
