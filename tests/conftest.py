"""Fixtures: a made-up library on disk, sessions of its patches, fresh interpreters and forks."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.util
import json
import linecache
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from patchkit import settings
from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.engine.choices import Choices
from patchkit.engine.session import Session
from patchkit.patch import Patch
from patchkit.verification import forking

from .installed import distribution
from .processes import Done, python_path, run_python

with contextlib.suppress(ImportError):  # not every set of tests has it
    import hypothesis

    hypothesis.settings.register_profile("patchkit", deadline=None)  # no test asserts a time
    hypothesis.settings.load_profile("patchkit")

# How wide the output is, and whether it has colours, is for the tests to say, and not for whoever
# runs them: a service that builds forces colours.
for _variable in (
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "TTY_COMPATIBLE",
):
    os.environ.pop(_variable, None)
if os.environ.get("TERM") in ("dumb", "unknown"):
    del os.environ["TERM"]

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:
    sys.path.append(ROOT)  # for the workbench; an installed patchkit comes first

# Who starts a runner in the background makes it, and all that it starts, deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

NEED_THE_LIBRARIES = (
    "patches",
    "precision",
    "distributed",
    "inspection",
    "lab",
    "examples",
    "with_libraries",
)
SLOWEST = 10
MANY_MODULES = 200
LAUNCH_TIMEOUT = 240
FORK_TIMEOUT = 900


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of the catalogue where TRL is not installed."""
    absent = importlib.util.find_spec("trl") is None
    return True if absent and collection_path.name in NEED_THE_LIBRARIES else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write down which tests were the slowest, for the end of the test command."""
    folder = os.environ.get("TOX_ENV_DIR")
    if not folder:
        return
    seconds: dict[str, float] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    slowest = sorted(seconds, key=lambda name: seconds[name], reverse=True)[:SLOWEST]
    lines = (f"{seconds[name]:6.1f} s  {name}\n" for name in slowest)
    Path(folder, "slowest-tests.txt").write_text("".join(lines), encoding="utf-8")


def pytest_runtest_logfinish() -> None:
    """Leave out of later garbage collections what imports have brought, once they were many.

    Each training collects garbage, and would walk over all that the libraries have made: that
    takes longer than a step of a tiny model.
    """
    global _modules_frozen
    if len(sys.modules) >= _modules_frozen + MANY_MODULES:
        gc.collect()
        gc.freeze()
        _modules_frozen = len(sys.modules)


_modules_frozen = 0


class Library:
    """A distribution `madeup` of one package, written to a folder on `sys.path`."""

    def __init__(self, folder: Path, version: str = "1.2.0") -> None:
        self.folder = folder
        self.package = folder / "madeup"
        self.package.mkdir()
        (self.package / "__init__.py").touch()
        self.release(version)

    def release(self, version: str) -> None:
        for old in self.folder.glob("*.dist-info/METADATA"):
            old.unlink()
            old.parent.rmdir()
        distribution(self.folder, "madeup", version)

    def write(self, module: str, source: str) -> str:
        """Write a module of the package; its full name."""
        file = self.package.joinpath(*module.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        for parent in file.parents:
            if parent == self.package:
                break
            (parent / "__init__.py").touch()
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        linecache.checkcache()
        importlib.invalidate_caches()
        return f"madeup.{module}"

    def load(self, module: str) -> ModuleType:
        return importlib.import_module(f"madeup.{module}")

    @staticmethod
    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "madeup"]:
            del sys.modules[name]


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Library.forget()
    yield Library(tmp_path)
    Library.forget()


@pytest.fixture
def session() -> Iterator[Callable[..., Session]]:
    """Makes sessions of given patches, and takes back what they did."""
    made: list[Session] = []

    def make(*patches: Patch) -> Session:
        entries = {patch.id: Entry(patch, "tests", None) for patch in patches}
        made.append(Session(Catalogue(entries)))
        return made[-1]

    yield make
    for session in made:
        session.revert(None)
    settings.restore({})


@pytest.fixture
def apply() -> Callable[..., Any]:
    """`apply` of a session with the defaults of the public one."""

    def call(session: Session, only: Any = None, exclude: Any = None, **options: Any) -> Any:
        named = {
            name: options.pop(name) for name in ("strict", "dtype", "patches") if name in options
        }
        return session.apply(Choices(only, exclude, keywords=options, **named))

    return call


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., Any]:
    """Runs code in a fresh interpreter; what it assigns to `result` comes back."""

    def run(code: str, *, env: dict[str, str] | None = None) -> Any:
        return run_fresh(code, tmp_path, env=env)

    return run


@pytest.fixture
def patchkit_command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `patchkit …` in the test's folder, with what lies there on its path."""

    def run(*arguments: str, program: str = "patchkit", **env: str) -> Done:
        variables = {"PYTHONPATH": python_path(tmp_path), **env}
        return run_python("-m", program, *arguments, folder=tmp_path, **variables)

    return run


def run_fresh(code: str, folder: Path, *, env: dict[str, str] | None = None) -> Any:
    program = f"{textwrap.dedent(code)}\nimport json as _json\nprint('\\n' + _json.dumps(result))\n"
    done = run_python("-c", program, folder=folder, **(env or {}))
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


class Forks:
    """A process that has imported some modules, begun when a fork of it is first needed.

    Args:
        imported: which modules: `libraries`, in the process whose forks verify patches, too; what
            lies `beneath` them; or what patchkit imports from `outside`.
    """

    def __init__(self, imported: str = "libraries") -> None:
        self.imported = imported
        self.server: forking.ForkServer | None = None

    def run(self, folder: Path, env: dict[str, str], **program: Any) -> tuple[int, str, str]:
        """Return the exit status of a fork, its output and its errors."""
        if self.server is None or self.server.ended:
            self.server = self._begin()
        request = {"folder": str(folder), "env": {**os.environ, **env}, **program}
        answer = self.server.call("forks:run", {"request": request}, timeout=FORK_TIMEOUT)
        if "status" not in answer:
            pytest.fail(f"a fork: {answer['message']}")
        stdout, stderr = (
            (folder / name).read_text(errors="replace") for name in ("stdout", "stderr")
        )
        return answer["status"], stdout, stderr

    def _begin(self) -> forking.ForkServer:
        folder = str(Path(__file__).parent)
        if self.imported == "libraries":
            forking._stop_server()
            server = forking._server = forking.ForkServer(folder=folder)
        else:
            server = forking.ForkServer(f"forks:import_what_is_{self.imported}", folder=folder)
            atexit.register(server.stop)
        return server

    def result(self, code: str, folder: Path, env: dict[str, str] | None) -> Any:
        """Run code in a fork, and return what it assigns to `result`."""
        program = f"{textwrap.dedent(code)}\nimport json as _json\nresult = _json.dumps(result)\n"
        program += "print('\\n' + result)\n"
        status, stdout, stderr = self.run(folder, env or {}, argv=["-c"], code=program)
        assert status == 0, stderr[-4000:]
        return json.loads(stdout.splitlines()[-1])


BENEATH, OUTSIDE, LIBRARIES = Forks("beneath"), Forks("outside"), Forks()


@pytest.fixture(scope="session")
def forks() -> Forks | None:
    """Begins forks of a process that has imported the libraries; None where none are wanted.

    An import takes many times what a tiny training does. Patches then meet libraries that are
    loaded already.
    """
    return LIBRARIES if _forks_are_wanted() else None


def _forks_are_wanted() -> bool:
    return hasattr(os, "fork") and os.environ.get("PATCHKIT_TEST_PROCESSES") != "own"


@pytest.fixture
def forked(forks: Forks | None, tmp_path: Path, fresh: Callable[..., Any]) -> Callable[..., Any]:
    """Runs code like `fresh`, but in a fork of a process that has imported the libraries."""

    def run(code: str, *, env: dict[str, str] | None = None) -> Any:
        assert forks is not None
        return forks.result(code, tmp_path, env)

    return run if forks else fresh


@pytest.fixture
def train(forks: Forks | None, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`train("sft", patched=True, precision="bf16", env={...})`: the outcome of one training."""

    def run(
        trainer: str,
        *,
        patched: bool,
        env: dict[str, str] | None = None,
        arguments: list[str] | None = None,
        **options: object,
    ) -> dict[str, Any]:
        line = ["--trainer", trainer]
        for name, value in options.items():
            text = json.dumps(value) if isinstance(value, dict) else str(value)
            line += [f"--{name.replace('_', '-')}", text]
        line += ["--patched"] if patched else []
        line += arguments or []
        if forks:
            status, stdout, stderr = forks.run(
                tmp_path, env or {}, argv=["-m", *line], module="patchkit.lab"
            )
        else:
            done = run_python("-m", "patchkit.lab", *line, folder=tmp_path, **(env or {}))
            status, stdout, stderr = done.returncode, done.stdout, done.stderr
        assert status == 0, stderr[-4000:]
        outcome: dict[str, Any] = json.loads(stdout.splitlines()[-1])
        return outcome

    return run


@pytest.fixture
def before_libraries(tmp_path: Path, fresh: Callable[..., Any]) -> Callable[..., Any]:
    """Runs code like `fresh`, but in a process that has imported what lies beneath the libraries.

    PyTorch takes most of what an import of TRL does. No patch changes it.
    """

    def run(code: str, *, env: dict[str, str] | None = None) -> Any:
        return BENEATH.result(code, tmp_path, env)

    return run if _forks_are_wanted() else fresh


@pytest.fixture(scope="session")
def outside() -> Forks | None:
    """Begins forks of a process that has imported what patchkit imports from elsewhere."""
    return OUTSIDE if _forks_are_wanted() else None


@pytest.fixture
def before_patchkit(
    outside: Forks | None, tmp_path: Path, fresh: Callable[..., Any]
) -> Callable[..., Any]:
    """Runs code like `fresh`, in a process that has imported what patchkit imports from elsewhere.

    That takes half of what a call of `apply` does.
    """

    def run(code: str, *, env: dict[str, str] | None = None) -> Any:
        assert outside is not None
        return outside.result(code, tmp_path, env)

    return run if outside else fresh


@pytest.fixture
def two_ranks(forks: Forks | None, tmp_path: Path, launch: Callable[..., Any]):
    """`two_ranks(script, *arguments, env={…})`: two forks run it together, as under torchrun."""

    def run(script: str, *arguments: str, env: dict[str, str] | None = None):
        if forks is None:
            two = ("--nproc_per_node=2", "--master_port={port}")
            return launch("torch.distributed.run", *two, script, *arguments, env=env)
        argv = [script, *arguments]
        done = forks.run(tmp_path, env or {}, argv=argv, file=script, ranks=2)
        return subprocess.CompletedProcess(argv, *done)

    return run


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`launch("torch.distributed.run", "--nproc_per_node", "2", "--master_port={port}", …)`."""

    def run(module: str, *arguments: str, env: dict[str, str] | None = None):
        from patchkit.lab import tiny

        tiny.go_offline()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", module, *(argument.format(port=port) for argument in arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=LAUNCH_TIMEOUT)
        finally:
            # A rank that waits for one that died would outlive its launcher.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    return run
