"""Put mocks and stubs in the place of what is fixed, and apply, report and revert around them.

Every call must return within seconds and tell the truth; once the mock is gone another `apply()`
must fix what is there, and `revert()` must bring back the originals. Without TRL only the
made-up library is used.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from . import oracle
from . import world as worlds
from .figures import Figures, options
from .forks import ForkFailed, each_in_fork
from .scenarios import foreign, owner_of

CALL_SECONDS = 5.0

MOCKS: dict[str, dict[str, Any]] = {
    "MagicMock": {},
    "autospec": {"autospec": True},
    "function": {"new": foreign},
}
PLACES = (
    "madeup.trainer:Trainer.__init__",
    "madeup.trainer:Trainer.step",
    "madeup.trainer:Trainer.load",
    "madeup.trainer:Trainer.count",
    "madeup.trainer:Trainer",
    "madeup.trainer:size",
    "madeup.trainer:length",
    "madeup.several:second",
    "madeup.several:third",
    "madeup.shared:both",
    "madeup.small_model:Net",
)
STUBS: dict[str, Callable[[str], Any]] = {
    "None": lambda name: None,
    "SimpleNamespace": lambda name: SimpleNamespace(__name__=name),
    "SimpleNamespace without a name": lambda name: SimpleNamespace(),
    "ModuleType": ModuleType,
    "ModuleType without a spec": lambda name: _without_spec(ModuleType(name)),
    "MagicMock": lambda name: mock.MagicMock(),
    "MagicMock of a module": lambda name: mock.MagicMock(spec=ModuleType(name)),
    "str": lambda name: name,
}


def _without_spec(module: ModuleType) -> ModuleType:
    del module.__spec__
    return module


class Slow(AssertionError):
    """A call took longer than seconds."""


def _quickly(call: Callable[[], Any]) -> Any:
    begun = time.monotonic()
    answer = call()
    if time.monotonic() - begun > CALL_SECONDS:
        raise Slow(f"a call took {time.monotonic() - begun:.0f} seconds")
    return answer


def mocked(world: worlds.World, target: str, kind: str) -> Any:
    module, _, qualname = target.partition(":")
    owner, name = owner_of(module, qualname)
    return mock.patch.object(owner, name, **MOCKS[kind])


def behind(world: worlds.World, target: str) -> tuple[str, ...]:
    """Return the targets that a mock of a class or function stands before."""
    places = [place.target for place in world.places]
    return tuple(place for place in places if place == target or place.startswith(f"{target}."))


def inside(world: worlds.World, target: str, report: Any) -> list[str]:
    """Return what is untrue while a mock stands there; a wrapper may lie around the mock itself."""
    wrapped = [place.target for place in world.places if place.wrapped and place.target == target]
    replaced = behind(world, target)
    problems = oracle.untrue(world, report, replaced=replaced, unknown=wrapped)
    return [f"inside: {problem}" for problem in problems]


def end(world: worlds.World) -> list[str]:
    """Return what is wrong once nothing stands in the way any more."""
    report = _quickly(world.apply)
    problems = [f"apply: {problem}" for problem in oracle.untrue(world, report)]
    problems += [f"apply: {problem}" for problem in oracle.all_applied(world, report)]
    again = _quickly(world.apply)
    if again.changed:
        problems.append("a second apply: changes something")
    problems += [f"revert: {problem}" for problem in oracle.untrue(world, world.revert())]
    if foreign(3) != "foreign":
        problems.append("revert: the function that stood there is changed")
    return problems + [f"revert: {problem}" for problem in oracle.not_original(world)]


def applied_then_mocked(world: worlds.World, target: str, kind: str) -> list[str]:
    world.load()
    world.apply()
    replaced = behind(world, target)
    with mocked(world, target, kind):
        problems = inside(world, target, _quickly(world.report))
        problems += inside(world, target, _quickly(world.apply))
        problems += inside(world, target, _quickly(world.report))
    after = oracle.untrue(world, _quickly(world.report), replaced=replaced)
    return [*problems, *(f"gone: {problem}" for problem in after), *end(world)]


def mocked_then_applied(world: worlds.World, target: str, kind: str) -> list[str]:
    world.load()
    with mocked(world, target, kind):
        problems = inside(world, target, _quickly(world.apply))
        problems += inside(world, target, _quickly(world.report))
    return [*problems, *end(world)]


def reverted_inside(world: worlds.World, target: str, kind: str) -> list[str]:
    world.load()
    problems = []
    for _ in range(3):
        world.apply()
        with mocked(world, target, kind):
            _quickly(world.revert)
        problems += [f"gone: {problem}" for problem in oracle.untrue(world, world.report())]
        problems += [f"gone: {problem}" for problem in oracle.not_original(world)]
    return problems + end(world)


def rounds(world: worlds.World, target: str, kind: str) -> list[str]:
    """Twenty mocks in turn: the chain behind the function gets no longer."""
    world.load()
    world.apply()
    module, _, qualname = target.partition(":")
    for _ in range(20):
        with mocked(world, target, kind):
            world.apply()
        world.apply()
    owner, name = owner_of(module, qualname)
    depth, value = 0, vars(owner)[name]
    while (value := getattr(value, "__wrapped__", None)) is not None and depth < 99:
        depth += 1
    problems = [f"rounds: {depth} wrappers lie on each other"] if depth > 1 else []
    return problems + end(world)


def stubbed(world: worlds.World, module: str, kind: str, late: bool) -> list[str]:
    """Apply while a stub stands in `sys.modules`, then with the module itself."""
    world.load()
    if late:
        world.apply()
    package = module == worlds.PACKAGE
    original = sys.modules[module]
    sys.modules[module] = STUBS[kind](module)
    replaced = [place.target for place in world.places if package or place.module == module]
    problems = []
    try:
        report = _quickly(world.apply)
        problems += oracle.untrue(world, report, replaced=replaced, may_have_failed=True)
        report = _quickly(world.report)
        problems += oracle.untrue(world, report, replaced=replaced, may_have_failed=True)
        if not package:
            others = {place.patch for place in world.places if place.module == module}
            problems += oracle.all_applied(world, report, but=others)
        str(report)
        report.to_json()
        report.diff()
    except Exception as error:
        problems.append(f"raises {type(error).__name__}: {str(error)[:80]}")
    finally:
        sys.modules[module] = original
    return [f"inside: {problem}" for problem in problems] + end(world)


def imported_again(world: worlds.World, module: str) -> list[str]:
    """Take a module out of `sys.modules`, and import it again."""
    world.load()
    world.apply()
    problems = []
    for _ in range(3):
        del sys.modules[module]
        problems += [f"gone: {problem}" for problem in oracle.untrue(world, world.report())]
        importlib.import_module(module)
        replaced = [place.target for place in world.places if place.module == module]
        report = world.report()
        after = oracle.untrue(world, report, replaced=replaced)
        problems += [f"imported again: {problem}" for problem in after]
        report = world.apply()
        after = oracle.untrue(world, report) + oracle.all_applied(world, report)
        problems += [f"applied again: {problem}" for problem in after]
    return problems + end(world)


@dataclass(frozen=True)
class MockTrial:
    """One thing to try: the row that it counts in, what it is called, and the work."""

    row: str
    label: str
    work: Callable[..., list[str]]
    arguments: tuple[Any, ...]
    made_up: bool = True

    def run(self) -> list[str]:
        if not self.made_up:
            return self.work(*self.arguments)
        with worlds.world_of() as world:
            return self.work(world, *self.arguments)


def on_made_up_library() -> Iterator[MockTrial]:
    ways = {
        "applied, then mocked": applied_then_mocked,
        "mocked, then applied": mocked_then_applied,
        "reverted inside a mock": reverted_inside,
        "twenty mocks in turn": rounds,
    }
    for name, way in ways.items():
        for target in PLACES:
            for kind in MOCKS:
                if kind == "function" and target.endswith(("Trainer", "Net")):
                    continue
                if kind == "autospec" and target.endswith("length"):
                    continue  # a built-in without a signature of its own
                yield MockTrial(name, f"{kind} at {target}", way, (target, kind))
    for module in ("madeup.trainer", "madeup.several", "madeup.small_model", worlds.PACKAGE):
        row = "stub of the library" if module == worlds.PACKAGE else "stub of a module"
        for kind in STUBS:
            for late in (False, True):
                yield MockTrial(row, f"{kind} at {module}", stubbed, (module, kind, late))
    for module in ("madeup.trainer", "madeup.several", "madeup.shared", "madeup.small_model"):
        yield MockTrial("imported again", module, imported_again, (module,))


REAL = (
    "transformers.trainer:Trainer.evaluation_loop",
    "transformers.modeling_utils:PreTrainedModel.from_pretrained",
    "transformers.models.llama.modeling_llama:LlamaRMSNorm.forward",
    "transformers.models.llama.modeling_llama:LlamaRMSNorm",
    "accelerate.accelerator:Accelerator.prepare",
    "accelerate.accelerator:Accelerator",
    "trl.trainer.sft_trainer:SFTTrainer.__init__",
    "trl.trainer.sft_trainer:SFTTrainer",
)


def on_real_libraries() -> Iterator[MockTrial]:
    for target in REAL:
        importlib.import_module(target.partition(":")[0])
    for target in REAL:
        for kind in ("MagicMock", "autospec"):
            for before in (True, False):
                row = "real, applied, then mocked" if before else "real, mocked, then applied"
                yield MockTrial(
                    row, f"{kind} at {target}", _real, (target, kind, before), made_up=False
                )


def _real(target: str, kind: str, before: bool) -> list[str]:
    """Mock something of a real library around `apply()`."""
    import patchkit

    from .snapshots import Snapshot

    module, _, qualname = target.partition(":")
    owner, name = owner_of(module, qualname)
    getattr(getattr(owner, name), "__annotations__", None)  # a class has none before somebody asks
    noted = Snapshot.of([sys.modules[module]])
    patchkit.apply()
    statuses = {record.id: str(record.status) for record in patchkit.report()}
    if not before:
        patchkit.revert()
    problems = []
    with mock.patch.object(owner, name, **MOCKS[kind]) as stand_in:
        code = getattr(stand_in, "__code__", None)
        for _ in range(2):
            report = _quickly(patchkit.apply)
            # A wrapper may lie around the mock itself.
            wrapped = (
                vars(owner)[name] is not stand_in or getattr(stand_in, "__code__", None) is not code
            )
            for record in _quickly(patchkit.report):
                for place in record.targets:
                    hidden = place.target == target and not wrapped
                    hidden = hidden or place.target.startswith(f"{target}.")
                    if hidden and str(place.status) == "applied":
                        problems.append(f"inside: {record.id} is said to be applied")
    report = _quickly(patchkit.apply)
    now = {record.id: str(record.status) for record in report}
    problems += [
        f"gone: {patch} is {now[patch]}, was {status}"
        for patch, status in statuses.items()
        if now[patch] != status
    ]
    patchkit.revert()
    changed = noted.differences(Snapshot.of([sys.modules[module]]))
    places = dict.fromkeys(path.partition("()")[0] for path in changed)
    return problems + [f"revert: {place} is not the original" for place in places]


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--made-up", action="store_true", help="leave the real libraries out")
    parser.add_argument("--real", action="store_true", help="use the real libraries only")
    parser.add_argument("--sample", type=int, default=0, help="trials on the made-up library")
    parser.add_argument("--timeout", type=float, default=15, help="seconds for a trial")
    chosen = parser.parse_args()
    worlds.be_quiet()
    worlds.warm_up()
    figures = Figures("mocks", chosen.shown)
    trials: list[MockTrial] = []
    if not chosen.real:
        trials += on_made_up_library()
    if chosen.sample:
        trials = random.Random(chosen.seed).sample(trials, min(chosen.sample, len(trials)))
    if not chosen.made_up and importlib.util.find_spec("trl"):
        trials += on_real_libraries()
    works = [trial.run for trial in trials]
    answers = each_in_fork(works, chosen.jobs, chosen.timeout)
    for trial, problems in zip(trials, answers, strict=True):
        if isinstance(problems, ForkFailed):
            problems = [f"the process {str(problems).strip().splitlines()[-1]}"]
        figures.count(trial.row, [f"{problem} ({trial.label})" for problem in problems])
    return figures.show(as_json=chosen.json)
