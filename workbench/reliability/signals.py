"""Send real interrupts at chance moments of what users do, and look at what is left.

Each trial is a fork that is sent a SIGINT at some moment of `apply`, `revert`, an import under
the hook or a `patched` block. Afterwards it is asked the same as by `inject.py`: the report must
say what is so, `revert()` must bring back the originals, `apply()` must fix everything.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import statistics
import time
from dataclasses import dataclass
from typing import Any

from . import oracle
from . import world as worlds
from .figures import Figures, options
from .forks import Fork, ForkFailed, in_fork
from .inject import aftermath, carried_after, locked
from .scenarios import ACTIONS, Action

MOMENTS = ("apply, loaded", "revert", "import", "patched", "patched, others=False", "apply again")
TRIAL_SECONDS = 30.0


@dataclass
class SignalTrial:
    """The outcome of one interrupt: where it arrived, and what was wrong then."""

    inside: bool
    problems: list[str]


def interrupted(
    world: worlds.World, action: Action, allowed: list[oracle.Carried], ready: int
) -> SignalTrial:
    """Notify the parent, do something, and check what an interrupt left behind."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    came_out = ""
    finished = False
    try:
        try:
            os.write(ready, b"!")
            action.act(world)
            finished = True
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BaseException as error:
        came_out = type(error).__name__
    problems = []
    if came_out not in ("", "KeyboardInterrupt"):
        problems.append(f"what came out was a {came_out}")
    problems += locked(world)
    if came_out and not finished and not action.imports and oracle.carried(world) not in allowed:
        problems.append("half done: neither as before nor as after")
    problems += aftermath(world, action, may_have_failed=False)
    return SignalTrial(bool(came_out) and not finished, problems)


def duration(world: worlds.World, action: Action) -> float:
    """Measure how long an undisturbed run takes in a fork, in seconds."""

    def timed() -> float:
        begun = time.perf_counter()
        action.act(world)
        return time.perf_counter() - begun

    return statistics.median(in_fork(timed) for _ in range(5))


def try_once(
    world: worlds.World, action: Action, allowed: list[oracle.Carried], delay: float
) -> SignalTrial:
    """Send one interrupt, some time after the work began."""
    signalled, ready = os.pipe()
    fork = Fork(lambda: interrupted(world, action, allowed, ready))
    os.close(ready)
    try:
        select.select([signalled], [], [], TRIAL_SECONDS)
        _wait(delay)
        with contextlib.suppress(ProcessLookupError):
            os.kill(fork.pid, signal.SIGINT)
        trial: SignalTrial = fork.result(TRIAL_SECONDS)
    except ForkFailed as failure:
        trial = SignalTrial(True, [f"the process {str(failure).strip().splitlines()[-1]}"])
    finally:
        os.close(signalled)
    return trial


def try_moment(name: str, chosen: Any) -> list[SignalTrial]:
    """Send a number of interrupts while one thing is done."""
    action = next(action for action in ACTIONS if action.name == name)
    with worlds.world_of() as world:
        action.prepare(world)
        before = oracle.carried(world)
        allowed = [before]
        if not action.as_before:
            allowed.append(in_fork(lambda: carried_after(world, action)))
        seconds = duration(world, action)

        def work(job: int) -> list[SignalTrial]:
            draw = random.Random(f"{chosen.seed} {name} {job}")
            number = len(range(job, chosen.trials, chosen.jobs))
            return [
                try_once(world, action, allowed, draw.uniform(0, 1.1 * seconds))
                for _ in range(number)
            ]

        workers = [Fork(lambda job=job: work(job)) for job in range(chosen.jobs)]
        return [trial for worker in workers for trial in worker.result(24 * 3600)]


def _wait(seconds: float) -> None:
    """Wait for less than a millisecond, too, which `time.sleep` is not exact enough for."""
    until = time.perf_counter() + seconds
    if seconds > 0.002:
        time.sleep(seconds - 0.001)
    while time.perf_counter() < until:
        pass


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--trials", type=int, default=1000, help="interrupts for each thing")
    parser.add_argument("--moments", nargs="+", choices=MOMENTS, default=list(MOMENTS))
    chosen = parser.parse_args()
    worlds.be_quiet()
    worlds.warm_up()
    figures = Figures("signals", chosen.shown)
    for name in chosen.moments:
        trials = in_fork(lambda name=name: try_moment(name, chosen), 24 * 3600)
        for trial in trials:
            figures.count(name, trial.problems)
        inside = sum(trial.inside for trial in trials)
        figures.note(f"{name}: {inside} of {len(trials)} arrived before it was done")
    return figures.show(as_json=chosen.json)
