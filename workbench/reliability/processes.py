"""Use patchkit across forks, other processes, and libraries that lie on disk in unusual ways.

On the made-up library; DataLoader workers and ranks are left out where torch is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import multiprocessing
import os
import py_compile
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import ROOT
from . import oracle
from . import world as worlds
from .figures import Figures, options
from .forks import ForkFailed, command, in_fork

FORK_SECONDS = 2.0
CASE_SECONDS = 120.0
Case = Callable[[Any], list[str]]


# Forks and other processes


def fork_while_locked(chosen: Any) -> list[str]:
    """Fork again and again while a thread applies and reverts."""
    problems = []
    with worlds.world_of() as world:
        world.load()
        del sys.modules["madeup.large_model"]
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                world.apply()
                world.revert()

        thread = threading.Thread(target=work)
        thread.start()

        def child() -> list[str]:
            problems = oracle.untrue(world, world.report())
            importlib.import_module("madeup.large_model")
            problems += oracle.untrue(world, world.report())
            report = world.apply()
            problems += oracle.untrue(world, report) + oracle.all_applied(world, report)
            world.revert()
            return problems + oracle.plain(world)

        try:
            for _ in range(chosen.forks):
                try:
                    problems += [
                        f"in the fork: {problem}" for problem in in_fork(child, FORK_SECONDS)
                    ]
                except ForkFailed as failure:
                    problems.append(f"the fork {str(failure).strip().splitlines()[-1]}")
        finally:
            stop.set()
            thread.join()
    return problems


def fork_inside_patched(chosen: Any) -> list[str]:
    """Fork inside a block: the child has what the block has, and leaves it for itself."""
    with worlds.world_of() as world:
        world.load()

        def child() -> list[str]:
            return oracle.untrue(world, world.report()) + oracle.all_applied(world, world.report())

        with world.patched():
            problems = in_fork(child, FORK_SECONDS)
        return list(problems) + oracle.not_original(world)


def in_child(folder: str, function: Any) -> Any:
    """Apply in a child process, and use what the parent sent."""
    worlds.be_quiet()
    world = worlds.World(folder=Path(folder), written=True)
    sent = function(3)
    report = world.apply()
    world.load()
    problems = oracle.untrue(world, world.report())
    problems += oracle.all_applied(world, world.report())
    world.revert()
    del report
    return sent, problems + oracle.plain(world)


def other_process(method: str) -> Case:
    """Send what is fixed to a child that another start method makes."""

    def case(chosen: Any) -> list[str]:
        with worlds.world_of() as world:
            world.load()
            world.apply()
            function = sys.modules["madeup.trainer"].size
            context = multiprocessing.get_context(method)
            # The child unpickles by name, and finds the library where its parent does.
            before = os.environ.get("PYTHONPATH", "")
            os.environ["PYTHONPATH"] = os.pathsep.join(
                [str(world.folder), str(ROOT), *filter(None, [before])]
            )
            try:
                with context.Pool(1) as pool:
                    work = pool.apply_async(in_child, (str(world.folder), function))
                    sent, problems = work.get(60)
            except Exception as error:
                return [f"{type(error).__name__}: {str(error)[:100]}"]
            finally:
                os.environ["PYTHONPATH"] = before
            if sent not in (3, 6):
                problems.append(f"what was sent answers {sent!r}")
            return list(problems)

    return case


# Libraries on disk


def on_disk(change: Callable[[Path], None], *, drifts: bool = False, later: bool = False) -> Case:
    """Apply to a library whose files were changed.

    Args:
        change: what is done to the folder.
        drifts: whether rewrites cannot be made then, and the report must say so.
        later: whether that happens after the import.
    """

    def case(chosen: Any) -> list[str]:
        world = worlds.World()
        try:
            if later:
                world.load()
            change(world.folder)
            importlib.invalidate_caches()
            problems = _try_drifted(world) if drifts else _try_applied(world)
        finally:
            for folder, _, _ in os.walk(world.folder):
                os.chmod(folder, 0o755)
            world.remove()
        return problems

    return case


def _try_applied(world: worlds.World) -> list[str]:
    world.load()
    problems = []
    for when in ("after the import", "before the import"):
        report = world.apply()
        world.load()
        report = world.report()
        problems += [f"{when}: {problem}" for problem in oracle.untrue(world, report)]
        problems += [f"{when}: {problem}" for problem in oracle.all_applied(world, report)]
        world.revert()
        problems += [f"{when}: {problem}" for problem in oracle.plain(world)]
        world.forget()
    return problems


def _try_drifted(world: worlds.World) -> list[str]:
    world.load()
    report = world.apply()
    everything = [place.target for place in world.places]
    problems = oracle.untrue(world, report, replaced=everything)
    rewrites = ("madeup-rewrite", "madeup-several", "madeup-shared", "madeup-wild")
    carried = {patch for patch, _ in oracle.carried(world)}
    problems += [
        f"{patch}: fixed, though nobody knows its source" for patch in rewrites if patch in carried
    ]
    wraps = worlds.KINDS["wraps"]
    problems += [
        f"{patch}: a wrap needs no source, and is not there"
        for patch in wraps
        if patch not in carried
    ]
    silent = [patch for patch in rewrites if str(report[patch].status) not in ("drifted", "failed")]
    problems += [f"{patch}: the report says {report[patch].status}" for patch in silent]
    world.revert()
    return problems + oracle.plain(world)


def _sources(folder: Path) -> Iterator[Path]:
    return iter(sorted((folder / worlds.PACKAGE).glob("*.py")))


def leave_only_bytecode(folder: Path) -> None:
    for file in _sources(folder):
        py_compile.compile(str(file), str(file.with_suffix(".pyc")), doraise=True)
        file.unlink()


def make_read_only(folder: Path) -> None:
    for file in _sources(folder):
        file.chmod(0o444)
    (folder / worlds.PACKAGE).chmod(0o555)
    folder.chmod(0o555)


def edit_every_source(folder: Path) -> None:
    """Edit the sources, as an upgrade does under a running process."""
    for file in _sources(folder):
        file.write_text("# a line more\n" + file.read_text().replace("bug()", "bugs()"))


def end_lines_with(ending: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for file in _sources(folder):
            file.write_bytes(file.read_bytes().replace(b"\n", ending))

    return change


def encode(encoding: str, text: str, head: bytes = b"") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        for file in _sources(folder):
            cookie = f"# -*- coding: {encoding} -*-\n# {text}\nNAME = {text!r}\n"
            file.write_bytes(head + (cookie + file.read_text()).encode(encoding))

    return change


def indent_by_tabs(folder: Path) -> None:
    for file in _sources(folder):
        file.write_text(file.read_text().replace("    ", "\t"))


def without_last_newline(folder: Path) -> None:
    """Drop the last newline, and add a form feed and a continued line."""
    for file in _sources(folder):
        if text := file.read_text():
            file.write_text("\x0c\nNOTHING = \\\n    None\n" + text.rstrip("\n"))


def zipped(chosen: Any) -> list[str]:
    """Import the library from an archive."""
    world = worlds.World()
    archive = world.folder / "library.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(world.folder.rglob("*")):
            if path.is_file() and path != archive:
                file.write(path, path.relative_to(world.folder))
    sys.path.remove(str(world.folder))
    sys.path.insert(0, str(archive))
    importlib.invalidate_caches()
    try:
        return _try_applied(world)
    finally:
        world.remove()


# Other interpreters


def interpreter(*flags: str) -> Case:
    """Apply in an interpreter that was started with some flags."""

    def case(chosen: Any) -> list[str]:
        return program("plain", flags=flags)

    return case


def program(
    name: str, launcher: Sequence[str] = (), flags: Sequence[str] = (), answers: int = 1
) -> list[str]:
    """Run one of the programs below in interpreters of their own; return what was wrong."""
    done = subprocess.run(
        [*launcher, *command(__name__, "--program", name, flags=flags)],
        capture_output=True,
        text=True,
        check=False,
        timeout=CASE_SECONDS,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("PROBLEMS ")]
    if done.returncode or len(lines) != answers:
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return [f"exit status {done.returncode}, {len(lines)} answers: {last[:150]}"]
    return [problem for line in lines for problem in json.loads(line.removeprefix("PROBLEMS "))]


def plain_program() -> list[str]:
    with worlds.world_of() as world:
        return _try_applied(world)


class Answers:
    """A dataset of what fixed functions answer in the process that loads it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[bool, bool]:
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        module = importlib.import_module("madeup.several")
        return module.first() == "fixed", module.second(3) == 6


def loader_program(method: str) -> list[str]:
    """Load from workers: forks have the fixes, other processes begin without."""
    from torch.utils.data import DataLoader

    problems = []
    with worlds.world_of() as world:
        world.load()
        world.apply()
        loader = DataLoader(
            Answers(str(world.folder)),  # type: ignore[arg-type]
            batch_size=None,
            num_workers=2,
            multiprocessing_context=method,
            timeout=60,
        )
        for _ in range(2):
            expected = [(method == "fork",) * 2] * 8
            answers = [tuple(map(bool, pair)) for pair in loader]
            if answers != expected:
                problems.append(f"the workers answer {answers}")
            problems += oracle.all_applied(world, world.report())
    return problems


def rank_program() -> list[str]:
    """Apply in each of two ranks, and compare what they say."""
    import torch.distributed as dist

    dist.init_process_group("gloo")
    with worlds.world_of() as world:
        world.load()
        report = world.apply()
        problems = oracle.untrue(world, report) + oracle.all_applied(world, report)
        summaries: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(summaries, report.summary())
        if len(set(summaries)) != 1:
            problems.append(f"the ranks say {summaries}")
        dist.barrier()
        world.revert()
        problems += oracle.not_original(world)
    dist.destroy_process_group()
    return problems


def ranks(chosen: Any) -> list[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--no-python"]
    return program("rank", [*launcher, "--nproc_per_node=2", f"--master_port={port}"], answers=2)


PROGRAMS: dict[str, Callable[[], list[str]]] = {
    "plain": plain_program,
    "rank": rank_program,
    "loader-fork": lambda: loader_program("fork"),
    "loader-spawn": lambda: loader_program("spawn"),
}
CASES: dict[str, Case] = {
    "fork while a thread applies and reverts": fork_while_locked,
    "fork inside patched()": fork_inside_patched,
    "spawn": other_process("spawn"),
    "forkserver": other_process("forkserver"),
    "python -O": interpreter("-O"),
    "python -OO": interpreter("-OO"),
    "python -B -s": interpreter("-B", "-s"),
    "python -X dev": interpreter("-X", "dev"),
    "bytecode only": on_disk(leave_only_bytecode, drifts=True),
    "read-only": on_disk(make_read_only),
    "edited after the import": on_disk(edit_every_source, drifts=True, later=True),
    "CRLF": on_disk(end_lines_with(b"\r\n")),
    "CR": on_disk(end_lines_with(b"\r")),
    "Latin-1": on_disk(encode("latin-1", "Größe")),
    "UTF-8 with a mark": on_disk(encode("utf-8", "размер", b"\xef\xbb\xbf")),
    "Shift JIS": on_disk(encode("shift_jis", "大きさ")),
    "tabs": on_disk(indent_by_tabs),
    "no newline at the end": on_disk(without_last_newline),
    "zipped": zipped,
}
CASES_WITH_TORCH: dict[str, Case] = {
    "DataLoader, fork": lambda chosen: program("loader-fork"),
    "DataLoader, spawn": lambda chosen: program("loader-spawn"),
    "two ranks": ranks,
}


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--forks", type=int, default=200, help="while a thread applies")
    parser.add_argument("--only", default="", help="run the cases whose name holds this")
    parser.add_argument("--no-torch", action="store_true", help="leave out what needs torch")
    parser.add_argument("--program", choices=PROGRAMS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    worlds.be_quiet()
    if chosen.program:
        problems = PROGRAMS[chosen.program]()
        # Ranks share a pipe: what is written at once stays together.
        sys.stdout.write(f"\nPROBLEMS {json.dumps(problems)}\n")
        return 0
    worlds.warm_up()
    cases = dict(CASES)
    if not chosen.no_torch and importlib.util.find_spec("torch"):
        cases.update(CASES_WITH_TORCH)
    figures = Figures("processes", chosen.shown)
    for name, case in cases.items():
        if chosen.only not in name:
            continue
        try:
            problems = in_fork(lambda case=case: case(chosen), CASE_SECONDS + 4 * chosen.forks)
        except ForkFailed as failure:
            problems = [str(failure).strip()[-200:]]
        figures.count(name, problems)
    return figures.show(as_json=chosen.json)
