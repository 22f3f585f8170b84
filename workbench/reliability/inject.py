"""Raise an error at every line of the engine, and look at what is left.

In each scenario (something that a user does, with some patches of a made-up library) the lines
that the engine runs are counted; then, in a fork for each, that line raises instead. Afterwards
the report must say what is so, `revert()` must bring back the originals, `apply()` must fix
everything, and locks must be free.

A line is tried the first few times that it runs and the last; `--occurrences 0` tries all.
Python visits the line of a `with` statement once more when the block ends. No signal is handled
there (CPython looks for signals when a function starts, jumps back or returns from a call), so
what is raised there is counted in rows of its own, and not at all with `--no-with-ends`. From
Python 3.12 on the same is so where a loop jumps back: what a tracer raises there finds no handler,
while what a handler of signals raises finds it.

The import system calls a few functions of the hook. What is raised on their lines outside of any
`try` comes out of the import; those lines enter the `try` or call what is guarded, no more.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import patchkit

from . import oracle
from . import world as worlds
from .figures import Figures, options
from .forks import Fork, ForkFailed, in_fork
from .scenarios import SCENARIOS, Action

ENGINE = str(Path(patchkit.__file__).parent) + os.sep
ERRORS = {error.__name__: error for error in (KeyboardInterrupt, RuntimeError, MemoryError)}
LOCK_SECONDS = 20.0
POINT_SECONDS = 30.0
META_PATH = list(sys.meta_path)


def unguarded(source: str, functions: Container[str]) -> dict[int, str]:
    """Return the lines of functions that stand outside of any `try`, by their numbers."""
    found: dict[int, str] = {}
    lines = source.splitlines()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef) or function.name not in functions:
            continue
        for statement in function.body:
            end = statement.lineno if isinstance(statement, ast.Try) else statement.end_lineno
            if not isinstance(getattr(statement, "value", None), ast.Constant):
                for number in range(statement.lineno, (end or 0) + 1):
                    found[number] = lines[number - 1].strip()
    return found


# What the import system calls.
HOOK = Path(ENGINE, "engine", "hooks.py")
OUTSIDE = {
    f"engine/hooks.py:{number}"
    for number in unguarded(
        HOOK.read_text(encoding="utf-8"), {"find_spec", "exec_module", "_notify_after"}
    )
}


@dataclass(frozen=True)
class Point:
    """One run of one line.

    Args:
        number: which of all lines that the engine runs in this scenario.
        place: `file:line`.
        with_end: whether it is the visit of a `with` statement at its end, or of a loop that jumps
            back.
    """

    number: int
    place: str
    with_end: bool


def trace(
    act: Callable[[], Any], visit: Callable[[FrameType], None]
) -> tuple[BaseException | None, Any]:
    """Do something, calling `visit` at each line of the engine; return what came out."""

    def at_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            visit(frame)
        return at_line

    def at_call(frame: FrameType, event: str, _: Any) -> Any:
        return at_line if frame.f_code.co_filename.startswith(ENGINE) else None

    came_out: BaseException | None = None
    answer = None
    sys.settrace(at_call)
    try:
        answer = act()
    except BaseException as error:
        came_out = error
    finally:
        sys.settrace(None)
    return came_out, answer


def jumps_back(frame: FrameType) -> bool:
    """Tell whether a frame is at the end of a loop, which Python 3.12 shows to tracers."""
    return dis.opname[_bytes_of(frame.f_code)[frame.f_lasti]] == "JUMP_BACKWARD"


@functools.cache
def _bytes_of(code: CodeType) -> bytes:
    return code.co_code


def points_of(act: Callable[[], Any]) -> list[Point]:
    """Return all lines of the engine that an undisturbed run visits."""
    points: list[Point] = []
    visits: dict[tuple[FrameType, int], int] = {}

    def visit(frame: FrameType) -> None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        before = visits.get((frame, line), 0)
        visits[frame, line] = before + 1
        is_with = linecache.getline(file, line).lstrip().startswith("with ")
        points.append(
            Point(
                len(points),
                f"{file.removeprefix(ENGINE)}:{line}",
                (is_with and before % 2 == 1) or jumps_back(frame),
            )
        )

    came_out, _ = trace(act, visit)
    if came_out is not None:
        raise came_out
    return points


def disturbed(act: Callable[[], Any], point: Point, error: type[BaseException]) -> str:
    """Do something, raising at one line; return the name of what came out, empty for nothing."""
    number = -1

    def visit(frame: FrameType) -> None:
        nonlocal number
        number += 1
        if number == point.number:
            raise error("raised on purpose")

    came_out, _ = trace(act, visit)
    if number < point.number:
        raise RuntimeError(f"{point} was not reached")
    return type(came_out).__name__ if came_out is not None else ""


def chosen(points: list[Point], occurrences: int) -> list[Point]:
    """Return of each line the first few runs and the last; all, if `occurrences` is 0."""
    if not occurrences:
        return points
    by_place: dict[tuple[str, bool], list[Point]] = {}
    for point in points:
        by_place.setdefault((point.place, point.with_end), []).append(point)
    few: list[Point] = []
    for runs in by_place.values():
        few += runs[:occurrences] if occurrences == 1 else [*runs[: occurrences - 1], runs[-1]]
    return sorted(dict.fromkeys(few), key=lambda point: point.number)


def try_point(
    world: worlds.World,
    action: Action,
    point: Point,
    error: type[BaseException],
    before: oracle.Carried,
    after: oracle.Carried,
) -> list[str]:
    """Raise at one line, and say what is wrong afterwards."""
    came_out = disturbed(lambda: action.act(world), point, error)
    problems = []
    if came_out and came_out != error.__name__:
        problems.append(f"what came out was a {came_out}")
    if not issubclass(error, Exception) and not came_out:
        problems.append(f"the {error.__name__} was swallowed")
    inside = point.place not in OUTSIDE
    if action.imports and came_out and issubclass(error, Exception) and inside:
        problems.append("an Exception came out of the import")
    problems += locked(world)
    if came_out and not action.imports and oracle.carried(world) not in (before, after):
        problems.append("half done: neither as before nor as after")
    if came_out and action.undone and oracle.carried(world) != before:
        problems.append("not undone: it raised, and not all is as before")
    return problems + aftermath(world, action, may_have_failed=issubclass(error, Exception))


def aftermath(world: worlds.World, action: Action, *, may_have_failed: bool) -> list[str]:
    """Return what is wrong after a disturbance, and after reverting and applying once more."""
    problems = []

    def look(when: str, findings: Iterable[str]) -> None:
        problems.extend(f"{when}: {finding}" for finding in findings)

    replaced = action.replaces(world)
    check = functools.partial(oracle.untrue, world, may_have_failed=may_have_failed)
    look("report", check(world.report(), replaced=replaced))
    if action.imports:
        world.load()
        look("import again", check(world.report(), replaced=replaced))
    action.put_back(world)
    if replaced:
        look("put back", check(world.report(), replaced=replaced))
    look("revert", oracle.untrue(world, world.revert()))
    look("revert", oracle.not_original(world))
    world.load()
    look("loaded then", oracle.not_original(world))
    report = world.apply()
    look("apply", oracle.untrue(world, report))
    look("apply", oracle.all_applied(world, report))
    look("last revert", oracle.untrue(world, world.revert()))
    look("last revert", oracle.not_original(world))
    look("left over", oracle.leftovers(META_PATH))
    return problems


def locked(world: worlds.World) -> list[str]:
    """Look whether another thread or a fork waits for a lock."""
    problems = []
    thread = threading.Thread(target=world.report, daemon=True)
    thread.start()
    thread.join(LOCK_SECONDS)
    if thread.is_alive():
        problems.append("lock: another thread waits for ever")
    try:
        in_fork(lambda: bool(world.report()), LOCK_SECONDS)
    except ForkFailed:
        problems.append("lock: a fork waits for ever")
    return problems


def carried_after(world: worlds.World, action: Action) -> oracle.Carried:
    action.act(world)
    return oracle.carried(world)


def undisturbed(name: str) -> list[str]:
    """Return what is wrong where nothing is raised; all else is to be read beside it."""
    patches, action = SCENARIOS[name]
    with worlds.world_of(patches) as world:
        action.prepare(world)
        action.act(world)
        return aftermath(world, action, may_have_failed=False)


def try_scenario(name: str, chosen_options: Any) -> list[tuple[Point, str, list[str]]]:
    """Try all points of one scenario in forks; return point, error and problems of each."""
    patches, action = SCENARIOS[name]
    with worlds.world_of(patches) as world:
        action.prepare(world)
        before = oracle.carried(world)
        after = before
        if not action.as_before:
            after = in_fork(lambda: carried_after(world, action))
        points = in_fork(lambda: points_of(lambda: action.act(world)))
        trials = [
            (point, error)
            for point in chosen(points, chosen_options.occurrences)
            for error in chosen_options.errors
            if chosen_options.with_ends or not point.with_end
        ]
        draw = random.Random(f"{chosen_options.seed} {name}")
        if chosen_options.sample and chosen_options.sample < len(trials):
            trials = draw.sample(trials, chosen_options.sample)

        def work(mine: list[tuple[Point, str]]) -> list[tuple[Point, str, list[str]]]:
            outcomes = []
            for point, error in mine:
                try:
                    problems = in_fork(
                        lambda point=point, error=error: try_point(
                            world, action, point, ERRORS[error], before, after
                        ),
                        POINT_SECONDS,
                    )
                except ForkFailed as failure:
                    problems = [f"the process {str(failure).strip().splitlines()[-1]}"]
                outcomes.append((point, error, problems))
            return outcomes

        jobs = chosen_options.jobs
        workers = [Fork(lambda job=job: work(trials[job::jobs])) for job in range(jobs)]
        return [outcome for worker in workers for outcome in worker.result(24 * 3600)]


def main() -> int:
    parser = options(__doc__)
    parser.add_argument(
        "--scenarios", default="", help="run those whose name holds one of these, comma-separated"
    )
    parser.add_argument("--list", action="store_true", help="name the scenarios, and end")
    parser.add_argument("--occurrences", type=int, default=2, help="runs of each line; 0: all")
    parser.add_argument("--sample", type=int, default=0, help="points of each scenario; 0: all")
    parser.add_argument("--errors", nargs="+", choices=ERRORS, default=list(ERRORS))
    parser.add_argument("--no-with-ends", dest="with_ends", action="store_false")
    parser.add_argument(
        "--points", action="store_true", help="name each way in which a line goes wrong"
    )
    chosen_options = parser.parse_args()
    wanted = [part.strip() for part in chosen_options.scenarios.split(",")]
    names = [name for name in SCENARIOS if any(part in name for part in wanted)]
    if chosen_options.list:
        print("\n".join(names))
        return 0
    worlds.be_quiet()
    worlds.warm_up()
    figures = Figures("inject", chosen_options.shown)
    ways: dict[str, dict[str, None]] = {}
    categories: Counter[str] = Counter()
    for name in names:
        problems = in_fork(lambda name=name: undisturbed(name), POINT_SECONDS)
        figures.count("undisturbed", [f"{problem} ({name})" for problem in problems])
    for name in names:
        tried = in_fork(lambda name=name: try_scenario(name, chosen_options), 24 * 3600)
        wrong = sum(bool(problems) for *_, problems in tried)
        print(f"{name}: {len(tried)} points, {wrong} not clean", file=sys.stderr, flush=True)
        for point, error, problems in tried:
            end = ", ends of with" if point.with_end else ""
            kinds = dict.fromkeys(problem.partition(":")[0] for problem in problems)
            figures.count(f"{name}{end}", kinds)
            categories.update(list(kinds))
            if problems:
                line = ways.setdefault(f"{point.place}{end}", {})
                line[f"{error}: {name}: {problems[0]}"] = None
    figures.note("\npoints with something wrong, by what is wrong:")
    for kind, number in categories.most_common():
        figures.note(f"{number:6}  {kind}")
    figures.note(f"{len(ways)} lines of the engine at which something is wrong")
    for place in sorted(ways, key=by_line):
        kinds = list(ways[place])
        shown = "\n        ".join(kinds if chosen_options.points else kinds[:1])
        figures.note(f"    {place}  {len(kinds)} ways\n        {shown}")
    return figures.show(as_json=chosen_options.json)


def by_line(place: str) -> tuple[str, int, str]:
    file, _, rest = place.partition(":")
    line, _, end = rest.partition(",")
    return file, int(line), end
