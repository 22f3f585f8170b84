"""Apply, revert, report, import, re-import and reload from many threads at once.

No call may raise, none may hang, no report may name a status that cannot be, and when all have
ended the report says what is so, `revert()` brings back the originals and `apply()` fixes all.
"""

from __future__ import annotations

import importlib
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from . import oracle
from . import world as worlds
from .figures import Figures, options
from .forks import ForkFailed, in_fork

HANG_SECONDS = 30.0


def _import_again(world: worlds.World, draw: random.Random) -> None:
    name = draw.choice(world.modules)
    sys.modules.pop(name, None)
    importlib.import_module(name)


def _reload(world: worlds.World, draw: random.Random) -> None:
    name = draw.choice(world.modules)
    module = importlib.import_module(name)
    if sys.modules.get(name) is module:
        try:
            importlib.reload(module)
        except ImportError as error:  # another thread took it out in between
            if "not in sys.modules" not in str(error):
                raise


def _call(world: worlds.World, draw: random.Random) -> None:
    """Call what is being fixed: it answers with or without the fix, and never fails."""
    place = draw.choice([place for place in world.places if place.fixed is not None])
    module = importlib.import_module(place.module)
    answer = place.call(module)
    if answer not in (place.plain, place.fixed):
        raise AssertionError(f"{place.target} answers {answer!r}")


def _block(world: worlds.World, draw: random.Random) -> None:
    with world.patched(draw.choice(world.ids), others=draw.random() < 0.5):
        pass


WORK: dict[str, Callable[[worlds.World, random.Random], Any]] = {
    "apply": lambda world, draw: world.apply(),
    "apply one": lambda world, draw: world.apply(draw.choice(world.ids)),
    "revert": lambda world, draw: world.revert(),
    "revert one": lambda world, draw: world.revert(draw.choice(world.ids)),
    "patched": _block,
    "report": lambda world, draw: world.report().summary(),
    "import": lambda world, draw: importlib.import_module(draw.choice(world.modules)),
    "import again": _import_again,
    "reload": _reload,
    "call": _call,
}
IMPORTING = ("import", "import again", "reload", "call")


def storm(seconds: float, threads: int, seed: int, work: list[str]) -> tuple[Counter[str], list]:
    """Let threads do things at once; count each, and return what went wrong."""
    done: Counter[str] = Counter()
    problems: list[tuple[str, str]] = []
    began: dict[int, tuple[str, float]] = {}
    with worlds.world_of() as world:
        until = time.monotonic() + seconds

        def run(number: int) -> None:
            draw = random.Random(f"{seed} {number}")
            while time.monotonic() < until:
                name = draw.choice(work)
                began[number] = name, time.monotonic()
                try:
                    WORK[name](world, draw)
                except KeyError as error:
                    # importlib's own answer where a module is taken out of sys.modules under it.
                    if name not in IMPORTING or error.args[0] not in world.modules:
                        problems.append((name, f"KeyError: {error}"))
                except BaseException as error:
                    problems.append((name, f"{type(error).__name__}: {str(error)[:150]}"))
                done[name] += 1
            del began[number]

        crew = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(threads)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join(max(0.0, until + HANG_SECONDS - time.monotonic()))
        if began:
            stuck = Counter(name for name, _ in began.values())
            problems += [(name, f"{number} threads hang") for name, number in stuck.items()]
            return done, problems
        world.load()
        for when, findings in (
            ("the report at the end", oracle.untrue(world, world.report())),
            ("the end", _reverted(world, work)),
            ("the end", _applied(world)),
            ("the end", _reverted(world, work)),
        ):
            problems += [(when, finding) for finding in findings]
    return done, problems


def _reverted(world: worlds.World, work: list[str]) -> list[str]:
    problems = oracle.untrue(world, world.revert())
    # A module that is being reloaded may be fixed before it notes what it holds.
    problems += oracle.plain(world) if "reload" in work else oracle.not_original(world)
    return [f"revert: {problem}" for problem in problems]


def _applied(world: worlds.World) -> list[str]:
    report = world.apply()
    problems = oracle.untrue(world, report) + oracle.all_applied(world, report)
    return [f"apply: {problem}" for problem in problems]


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument(
        "--work", nargs="+", choices=WORK, default=[name for name in WORK if name != "patched"]
    )
    parser.add_argument(
        "--switch-interval", type=float, default=1e-5, help="seconds between thread switches"
    )
    chosen = parser.parse_args()
    worlds.be_quiet()
    worlds.warm_up()
    figures = Figures("threads", chosen.shown)
    sys.setswitchinterval(chosen.switch_interval)
    try:
        done, problems = in_fork(
            lambda: storm(chosen.seconds, chosen.threads, chosen.seed, chosen.work),
            chosen.seconds + 3 * HANG_SECONDS,
        )
    except ForkFailed as failure:
        done, problems = Counter(), [("all", str(failure))]
    for name, number in done.items():
        figures.count(name, times=number)
    figures.count("the report at the end")
    figures.count("the end", times=3)
    for name, problem in problems:
        figures.wrong[name] += 1
        figures.findings[f"{name}: {problem}"] += 1
    return figures.show(as_json=chosen.json)
