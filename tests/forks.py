"""Run programs in forks of a process that has imported modules.

A request is `{"folder": …, "env": …, "argv": …}`, and `"code"`, a program, `"file"`, one in a file, or
`"module"`, what `python -m` would run. `"fed"` is a file that it reads from standard input. A fork
writes to the files `stdout` and `stderr` in the folder. `"ranks"`, where it is given, is the number of
forks that run the program together, as torchrun starts them: the first that fails ends the others, and
its status is the answer.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Callable

# No package that a patch or a row of the legacy layer names: patchkit still comes first.
BENEATH = (
    "networkx",
    "pandas",
    "psutil",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "torch._dynamo",
    "torch._inductor.compile_fx",
    "torch.ao.quantization",
    "torch.distributed.checkpoint",
    "torch.distributed.fsdp",
)

# What patchkit imports from elsewhere for a call of `apply`, or a report.
OUTSIDE = (
    "ast",
    "difflib",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
    "packaging.specifiers",
    "tempfile",
    "textwrap",
    "typing",
    "wrapt",
    "yaml",
)


def import_what_is_beneath() -> None:
    import_all(BENEATH)


def import_what_is_outside() -> None:
    import_all(OUTSIDE)


def import_all(names: tuple[str, ...]) -> None:
    for name in names:
        with contextlib.suppress(Exception):  # the test that needs it will say so
            importlib.import_module(name)


def run(request: dict) -> dict[str, int]:
    """Run a program in one fork or in several, and return the exit status."""
    for name in ("stdout", "stderr"):
        with open(os.path.join(request["folder"], name), "w"):
            pass
    number = request.get("ranks", 1)
    if number > 1:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        request["env"].update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        request["env"].update(WORLD_SIZE=str(number), LOCAL_WORLD_SIZE=str(number))
    running = set()
    for rank in range(number):
        if number > 1:
            request["env"].update(RANK=str(rank), LOCAL_RANK=str(rank))
        process = os.fork()
        if not process:
            become(request)
        running.add(process)
    answer = 0
    while running:
        process, status = os.wait()
        running.discard(process)
        if status and not answer:
            answer = os.waitstatus_to_exitcode(status)
            for other in running:  # they would wait for the one that died
                os.kill(other, signal.SIGKILL)
    return {"status": answer}


def let_children_be_forks() -> None:
    """Let fork servers and trainings be forks of this process, which has imported the libraries."""
    forking = types.SimpleNamespace(**{**vars(subprocess), "Popen": _ForkOfThis})
    for name in ("patchkit.verification.forking", "patchkit.cli.demo.training"):
        vars(importlib.import_module(name))["subprocess"] = forking
    tempfile.tempdir = None


class _ForkOfThis(subprocess.Popen):
    """Runs a module for which `patchkit.children.command` has the command line."""

    def __init__(self, command: list[str], *, env: dict[str, str], **options) -> None:
        (start,) = (place for place, word in enumerate(command) if word.startswith("--folder="))
        folder, module, *arguments = command[start:]

        def serve() -> None:
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            os.environ.clear()
            os.environ.update(env)
            tempfile.tempdir = None
            sys.path.append(folder.partition("=")[2])
            sys.argv = [module, *arguments]
            _end_with(lambda: runpy.run_module(module, run_name="__main__", alter_sys=True))

        super().__init__(command, env=env, preexec_fn=serve, **options)


def become(request: dict) -> None:
    """Run a program in a fork, which ends here."""

    def run() -> None:
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["env"])
        streams = (request.get("fed", os.devnull), "stdout", "stderr")
        for number, name in enumerate(streams):
            flags = os.O_WRONLY | os.O_APPEND if number else os.O_RDONLY
            os.dup2(os.open(name, flags), number)
        sys.path.remove(os.path.dirname(__file__))
        given = request["env"].get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [request["folder"], *(name for name in given if name not in sys.path)]
        sys.dont_write_bytecode = bool(request["env"].get("PYTHONDONTWRITEBYTECODE"))
        sys.argv = request["argv"]
        if "module" in request:
            runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        elif "file" in request:
            sys.path[0] = os.path.dirname(request["file"])  # as for any script
            runpy.run_path(request["file"], run_name="__main__")
        else:
            sys.modules["__main__"] = program = types.ModuleType("__main__")
            exec(compile(request["code"], "<string>", "exec"), vars(program))

    _end_with(run)


def _end_with(program: Callable[[], object]) -> None:
    """Run a program, and end this process with its status."""
    status = 1
    try:
        program()
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
