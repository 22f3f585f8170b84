"""The last word of a command: whether patchkit was in force in it to the end.

The outermost interpreter says it as it ends. Those below it, which may be ranks or workers, hand
theirs over in a file in the temporary folder; without such a file nothing is written to disk.
"""

from __future__ import annotations

import atexit
import os
import sys

from .variables import VARIABLE

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from .standing import Standing

STATUS = 78
"""The exit status of an outermost interpreter in which `--strict` found something wrong."""
_NAMES_IT = ',"outermost":"'
"""What begins the last entry of the choices: the outermost interpreter, as `PID-TOKEN-MACHINE`."""
_RANKS = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
"""Variables that tell the rank of an outermost interpreter, which `srun` or `mpirun` started."""

_outermost = ""
_is_quiet = _is_strict = _is_wrong = False


def begin(chosen: str) -> str:
    """Note who says the last word of this command.

    Call this before anything else registers functions that run at exit, and `say_at_exit` after.

    Args:
        chosen: the encoded choices.

    Returns:
        the choices for the processes below this one, which name the outermost interpreter.
    """
    global _outermost, _is_quiet, _is_strict
    _is_quiet, _is_strict = '"quiet":true' in chosen, '"strict":true' in chosen
    if _is_quiet and not _is_strict:
        return chosen
    if _NAMES_IT not in chosen:
        chosen = f'{chosen[:-1]}{_NAMES_IT}{os.getpid()}-{os.urandom(6).hex()}-{_machine()}"}}'
        os.environ[VARIABLE] = chosen
    _outermost = chosen.rpartition(_NAMES_IT)[2].rstrip('"}')
    if _is_strict:
        atexit.register(_fail)
    return chosen


def say_at_exit() -> None:
    """Say the last word as this process ends, or hand it over."""
    if _outermost:
        atexit.register(_say)


def _say() -> None:
    global _is_wrong
    try:
        standing = _own()
        if not _is_outermost():
            if standing is not None and not _hand_over(standing) and _is_first_rank():
                _print(str(standing))
            return
        for text in _handed_over():
            from .standing import Standing

            standing = Standing.decode(text) | standing
        if standing is None or not _is_first_rank():
            return
        _is_wrong = bool(standing.wrong)
        if not _is_quiet or (_is_strict and _is_wrong):
            _print(str(standing))
    except Exception as error:
        # The command has ended by now, and must not fail of this.
        _print(f"cannot tell whether patchkit was in force: {type(error).__name__}: {error}")


def _own() -> Standing | None:
    """Return what stands in this process; None where patchkit changed nothing."""
    if "patchkit.engine.session" not in sys.modules:
        return None
    from .standing import standing_here

    return standing_here()


def _fail() -> None:
    """End with a status of our own, if something is wrong and the command has no error itself."""
    if not _is_wrong or not _is_outermost() or getattr(sys, "last_value", None) is not None:
        return
    _print(f"status {STATUS}, as --strict asks")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            """It is closed, or nobody reads it any more."""
    os._exit(STATUS)  # nothing else changes the status of a process that is about to end


def _is_outermost() -> bool:
    return _outermost.partition("-")[0] == str(os.getpid())


def _machine() -> str:
    return os.uname().nodename if hasattr(os, "uname") else ""


def _is_first_rank() -> bool:
    rank = next((rank for name in _RANKS if (rank := os.environ.get(name))), "0")
    return rank == "0"


def _hand_over(standing: Standing) -> bool:
    """Leave this for the outermost interpreter; return False where it has ended, or is far."""
    process, _, machine = _outermost.split("-", 2)
    if machine != _machine():
        return False
    try:
        if os.name == "posix":
            os.kill(int(process), 0)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        file = os.open(_file(), flags, 0o600)
    except OSError:
        return False
    try:
        os.write(file, f"{standing.encode()}\n".encode())  # at once, since ranks end together
    finally:
        os.close(file)
    return True


def _handed_over() -> list[str]:
    """Return what others left, and remove the file."""
    try:
        with open(_file(), encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.unlink(_file())
    except OSError:
        return []
    return lines


def _file() -> str:
    # `tempfile` would be imported as each interpreter ends.
    names = ("TMPDIR", "TEMP", "TMP")
    folder = next((found for name in names if (found := os.environ.get(name))), "/tmp")
    return os.path.join(folder, f"patchkit-run-{_outermost}")


def _print(text: str) -> None:
    if sys.stderr is not None:
        print(f"patchkit run: {text}", file=sys.stderr, flush=True)
