"""Child processes that run a module without the working directory on their path.

They answer with one JSON object per line of standard output.

`python -m` would look in the working directory for every import of the module, `json` and `torch`
included. So this file is the script that a child runs; until it has cleaned its path, it imports
only what every interpreter has loaded already.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_FOLDER = "--folder="


def command(module: str, *arguments: str, folder: str = "") -> list[str]:
    """Return the command line that runs a module in a child of this Python.

    Neither the working directory nor the folder of a script is on its path. Its `patchkit` is the
    one that runs here, wherever it was found; the folder around it is not on the path.

    Args:
        module: as for `python -m`, such as `patchkit.verification.reproduce` or `pip`.
        arguments: its arguments.
        folder: comes last on the child's path, for a package that lies beside neither the
            installed ones nor patchkit.
    """
    flags = ["-P"] if sys.version_info >= (3, 11) else []
    # A child ignores the variables and the user's site-packages if its parent does.
    flags += ["-E"] if sys.flags.ignore_environment else []
    flags += ["-s"] if sys.flags.no_user_site else []
    script = os.path.join(_PACKAGE, "children.py")
    return [sys.executable, *flags, script, f"{_FOLDER}{folder}", module, *arguments]


def leave_working_directory_out() -> None:
    """Remove the working directory that `python -m` put on this process's path."""
    try:
        if not _path_is_safe() and sys.path[:1] == [os.getcwd()]:
            del sys.path[0]
    except OSError:
        """The directory is gone, so it is not on the path."""


def take_standard_output() -> BinaryIO:
    """Reserve standard output for answers, and return it.

    Everything else that is printed goes to standard error, including the output of native code and
    of child processes.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def write_answer(answers: BinaryIO, answer: dict[str, Any]) -> None:
    """Write an answer, and flush it."""
    import json

    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def parse_answer(line: bytes | str) -> dict[str, Any] | None:
    """Return the answer in a line.

    None if there is none: the line was cut off, or printed while the interpreter started.
    """
    import json

    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _path_is_safe() -> bool:
    """Tell whether Python was told to put nothing in front of the path."""
    return bool(getattr(sys.flags, "safe_path", sys.flags.isolated))


def _run_as_main(module: str, folder: str) -> None:
    import runpy

    if folder:
        sys.path.append(folder)
    if (folder or module.partition(".")[0] == "patchkit") and "patchkit" not in sys.modules:
        _import_patchkit()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _import_patchkit() -> None:
    """Import the package that this file belongs to."""
    from importlib import util

    file = os.path.join(_PACKAGE, "__init__.py")
    spec = util.spec_from_file_location("patchkit", file, submodule_search_locations=[_PACKAGE])
    assert spec is not None
    assert spec.loader is not None
    sys.modules["patchkit"] = package = util.module_from_spec(spec)
    spec.loader.exec_module(package)


if __name__ == "__main__":
    if not _path_is_safe():
        del sys.path[0]  # the folder of this script, whose modules have common names
    _, option, *sys.argv = sys.argv
    _run_as_main(sys.argv[0], option[len(_FOLDER) :])
