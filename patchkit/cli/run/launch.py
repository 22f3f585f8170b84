"""Finds a command and becomes it."""

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
    """The command cannot be started.

    Args:
        status: the exit status that a shell has for this.
        message: one line.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def launch(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command in place of this process: signals, terminal and exit status are its own.

    Args:
        command: a program and its arguments.
        environment: all of its environment.

    Returns:
        its exit status, on Windows, where a process cannot become another; else it does not return.

    Raises:
        CannotRunError: there is no such program, or it cannot be run.
    """
    program, on_path = find(command[0])
    # A Python looks on PATH, by the name it was called, for the environment that it belongs to.
    arguments = [command[0] if on_path else program, *command[1:]]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    try:
        if os.name == "nt":
            return _wait_for(program, arguments, environment)
        _restore_signals()
        os.execve(program, arguments, environment)
    except OSError as error:
        raise CannotRunError(NOT_EXECUTABLE, f"{command[0]}: {error.strerror}") from None


def find(name: str) -> tuple[str, bool]:
    """The path of a program, and whether it was found where every command is looked for.

    One that is not on PATH is looked for beside this Python: in an environment that was not
    activated.

    Raises:
        CannotRunError: there is none, or it is not executable.
    """
    if found := shutil.which(name):
        return found, True
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
    """What a shell would have made of it."""
    variable, sign, _ = name.partition("=")
    if sign and variable.isidentifier():
        return f"; did you mean: patchkit run -- env {name} COMMAND"
    if " " in name:
        return "; a command and its arguments are words of their own, without quotes around them"
    return ""


def _restore_signals() -> None:
    """Take back what Python ignores for itself; a command would inherit it."""
    for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _wait_for(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    import subprocess

    with subprocess.Popen(arguments, executable=program, env=dict(environment)) as process:
        while True:
            # Ctrl-C goes to the command as well, and what becomes of it is its own affair.
            with contextlib.suppress(KeyboardInterrupt):
                return process.wait()
