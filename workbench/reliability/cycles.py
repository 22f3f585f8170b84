"""Do the same ten thousand times, and look at whether anything grows.

Memory that Python counts (`tracemalloc`) and that the process takes (resident, from
`/proc/self/statm`), entries of `linecache`, `sys.meta_path`, and the objects alive by type, those
of patchkit's own and of wrapt's types above all. The first fifth of the rounds is warm-up.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import linecache
import os
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from unittest import mock

from . import madeup_notes, oracle
from . import world as worlds
from .figures import Figures, options
from .forks import ForkFailed, in_fork

OBJECTS_PER_ROUND = 0.05
BYTES_PER_ROUND = 32.0
RESIDENT_PER_ROUND = 200.0
_WINDOWS = 4
COUNTED = (
    "function",
    "code",
    "dict",
    "list",
    "tuple",
    "cell",
    "type",
    "module",
    "weakref",
    "FunctionWrapper",
    "BoundFunctionWrapper",
)


def _apply_and_revert(world: worlds.World) -> None:
    world.apply()
    world.revert()


def _apply_and_revert_one(world: worlds.World) -> None:
    world.apply("madeup-shared")
    world.revert("madeup-shared-too")
    world.apply("madeup-several")
    world.revert("madeup-s*")


def _import_again(world: worlds.World) -> None:
    """Import one module again; what it holds is fixed by the hook or by the next `apply`."""
    name = "madeup.several"
    del sys.modules[name]
    importlib.import_module(name)
    world.apply()


def _reload(world: worlds.World) -> None:
    importlib.reload(sys.modules["madeup.several"])
    world.apply()


def _stand_in() -> Callable[..., int]:
    """Return a function of its own in each round, with a signature that a wrapper would take."""

    def step(self: object, size: int = 1, *, by: int = 1) -> int:
        return 0

    return step


def _mock(world: worlds.World) -> None:
    """Apply inside and after a mock that stands in the place of what is fixed."""
    module = sys.modules["madeup.trainer"]
    with (
        mock.patch.object(module.Trainer, "__init__", _stand_in()),
        mock.patch.object(module.Trainer, "step", _stand_in()),
    ):
        world.apply()
    world.apply()


def _block(world: worlds.World) -> None:
    with world.patched("madeup-s*", others=False):
        pass


def _report(world: worlds.World) -> None:
    world.report().summary()


@dataclass(frozen=True)
class Round:
    """An action to repeat.

    Args:
        prepare: done once before.
        work: one round.
    """

    prepare: Callable[[worlds.World], object]
    work: Callable[[worlds.World], None]


ROUNDS = {
    "apply, revert": Round(lambda world: world.load(), _apply_and_revert),
    "apply, revert, not loaded": Round(lambda world: None, _apply_and_revert),
    "apply, revert one": Round(lambda world: world.load(), _apply_and_revert_one),
    "import again": Round(lambda world: (world.load(), world.apply()), _import_again),
    "reload": Round(lambda world: (world.load(), world.apply()), _reload),
    "mock": Round(lambda world: (world.load(), world.apply()), _mock),
    "patched": Round(lambda world: (world.load(), world.apply()), _block),
    "report": Round(lambda world: (world.load(), world.apply()), _report),
}


@dataclass
class Sample:
    """Memory, texts, finders and objects at one moment."""

    traced: int
    resident: int
    texts: int
    finders: int
    objects: Counter[str]

    @classmethod
    def now(cls) -> Sample:
        madeup_notes.EARLIER.clear()
        for _ in range(3):
            gc.collect()
        objects: Counter[str] = Counter()
        for tracked in gc.get_objects():
            tracked_class = type(tracked)
            module = getattr(tracked_class, "__module__", "")
            if isinstance(module, str) and module.partition(".")[0] in ("patchkit", "wrapt"):
                objects[f"{module}.{tracked_class.__name__}"] += 1
            elif tracked_class.__name__ in COUNTED:
                objects[tracked_class.__name__] += 1
        traced = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
        return cls(traced, _resident(), len(linecache.cache), len(sys.meta_path), objects)


def _resident() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def repeat(name: str, times: int) -> tuple[list[str], str]:
    """Do one thing many times; return what grew, and a line with figures."""
    chosen = ROUNDS[name]
    with worlds.world_of() as world:
        chosen.prepare(world)
        for _ in range(max(10, times // 5)):
            chosen.work(world)
        before = Sample.now()
        begun = time.perf_counter()
        for _ in range(times):
            chosen.work(world)
        seconds = time.perf_counter() - begun
        after = Sample.now()
        problems = [
            f"{kind} objects pile up"
            for kind in after.objects
            if after.objects[kind] - before.objects[kind] > max(8, OBJECTS_PER_ROUND * times)
        ]
        resident = (after.resident - before.resident) / times
        if resident > RESIDENT_PER_ROUND and after.resident - before.resident > 4_000_000:
            problems.append("resident memory grows")
        if after.texts - before.texts > 8:
            problems.append("linecache grows")
        if after.finders != before.finders:
            problems.append("sys.meta_path grows")
        traced = _traced(chosen.work, world, max(8, times // 20))
        if traced > BYTES_PER_ROUND:
            problems.append("traced memory grows")
        with contextlib.suppress(ImportError):
            world.load()
        problems += oracle.untrue(world, world.report())
        report = world.apply()
        problems += oracle.untrue(world, report) + oracle.all_applied(world, report)
        world.revert()
        problems += oracle.plain(world)
        line = (
            f"{name}: {traced:+.1f} bytes traced and {resident:+.1f} resident a round, "
            f"{1000 * seconds / times:.2f} ms a round"
        )
    return problems, line


def _traced(work: Callable[[worlds.World], None], world: worlds.World, times: int) -> float:
    """Return the bytes that stay of each round; counting them makes rounds several times slower.

    What piles up grows each time, what the interpreter makes larger once (the table of its interned
    strings takes a megabyte at a step) does not.
    """
    tracemalloc.start()
    grown = []
    for _ in range(_WINDOWS):
        for _ in range(times):
            work(world)
        grown.append(Sample.now().traced)
    tracemalloc.stop()
    least = min(after - before for before, after in itertools.pairwise(grown))
    # What the interpreter itself keeps, such as freed lists, comes to a few KB in all.
    return least / times if least > min(50_000, 2_500 * times) else 0.0


def nest(depth: int) -> list[str]:
    """Enter `patched()` inside itself many times; each leaves what it found."""
    problems = []
    ids = [name for name in worlds.EVERYTHING if name not in (worlds.DRIFTED, worlds.NOT_DUE)]
    with worlds.world_of() as world:
        world.load()
        states = []
        with contextlib.ExitStack() as stack:
            for level in range(depth):
                stack.enter_context(world.patched(ids[level % len(ids)], others=level % 3 != 0))
                states.append(oracle.carried(world))
                stack.callback(lambda level=level: check(level))

            def check(level: int) -> None:
                """Look at what is left of a level, its own block being still open."""
                if oracle.carried(world) != states[level]:
                    problems.append("a block leaves something else than it found")

            problems += oracle.untrue(world, world.report())
        problems += oracle.untrue(world, world.report()) + oracle.not_original(world)
    return problems


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--rounds", nargs="+", choices=ROUNDS, default=list(ROUNDS))
    parser.add_argument("--depth", type=int, default=100, help="of patched() inside patched()")
    chosen = parser.parse_args()
    worlds.be_quiet()
    worlds.warm_up()
    figures = Figures("cycles", chosen.shown)
    for name in chosen.rounds:
        try:
            problems, line = in_fork(lambda name=name: repeat(name, chosen.times), 24 * 3600)
        except ForkFailed as failure:
            problems, line = [str(failure).strip()[-300:]], f"{name}: failed"
        figures.count(name, problems, times=chosen.times)
        figures.note(line)
    figures.count("patched, nested", in_fork(lambda: nest(chosen.depth), 600), times=chosen.depth)
    return figures.show(as_json=chosen.json)
