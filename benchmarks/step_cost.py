"""Measure what patchkit adds to a training step, in CPU time, in calls, and in memory."""

from __future__ import annotations

import statistics
from pathlib import Path

from fresh import Interpreters, interpreters
from results import Measure, options, show

PROGRAMS = Path(__file__).parent / "programs"
SETUPS = ("sft, bf16, 4bit", "sft, fp16, none", "grpo, bf16, 4bit")
LIMIT_PERCENT = 1
_STEPS_COUNTED = 6


def main() -> None:
    parser = options(__doc__, rounds=3)
    parser.add_argument("--setup", choices=SETUPS, help="one setup only")
    parser.add_argument("--blocks", type=int, default=40, help="turns of each")
    parser.add_argument("--steps", type=int, default=16, help="steps of a turn")
    chosen = parser.parse_args()
    measures: list[Measure] = []
    notes: list[str] = []
    with interpreters() as python:
        for setup in [chosen.setup] if chosen.setup else SETUPS:
            _time(python, setup, chosen.blocks, chosen.steps, measures, notes)
            _calls(python, setup, measures)
            _memory(python, setup, chosen.rounds, chosen.steps, measures)
    show(measures, notes, as_json=chosen.json)


def _time(
    python: Interpreters,
    setup: str,
    blocks: int,
    steps: int,
    measures: list[Measure],
    notes: list[str],
) -> None:
    program = [str(PROGRAMS / "alternate_steps.py"), "--setup", setup]
    outcome = python.run([*program, "--blocks", str(blocks), "--steps", str(steps)])
    turns = {
        turn: [1000 * statistics.median(block) for block in outcome[turn]]
        for turn in ("without", "with", "again")
    }
    measures += [
        Measure(f"{setup}: a step without, CPU", turns["without"], "ms"),
        Measure("  a step with", turns["with"], "ms"),
        Measure("    more", _percent(turns["with"], turns["without"]), "%", LIMIT_PERCENT),
        Measure("    noise: without, again", _percent(turns["again"], turns["without"]), "%"),
    ]
    same = "the same" if outcome["same losses"] else "OTHER"
    notes.append(f"{setup}: {same} losses with as without")


def _calls(python: Interpreters, setup: str, measures: list[Measure]) -> None:
    program = [str(PROGRAMS / "count_calls.py"), "--setup", setup]
    outcome = python.run([*program, "--steps", str(_STEPS_COUNTED)])
    without, within = outcome["without"], outcome["with"]
    more = _percent([within["calls"]], [without["calls"]])
    measures += [
        Measure("  calls in a step without", [without["calls"]], ""),
        Measure("  calls in a step with", [within["calls"]], ""),
        Measure("    more", more, "%", LIMIT_PERCENT),
        Measure("    patchkit's own among them", [within["ours"]], ""),
    ]


def _memory(
    python: Interpreters, setup: str, rounds: int, steps: int, measures: list[Measure]
) -> None:
    program = [str(PROGRAMS / "train_alone.py"), "--setup", setup, "--steps", str(steps)]
    outcomes = python.take_turns({"without": program, "with": [*program, "--patched"]}, rounds)
    without, within = ([outcome["peak"] for outcome in outcomes[name]] for name in outcomes)
    measures += [
        Measure("  peak memory without", without, "MiB"),
        Measure("  peak memory with", within, "MiB"),
        Measure("    more", _percent(within, without), "%", LIMIT_PERCENT),
    ]


def _percent(values: list[float], bases: list[float]) -> list[float]:
    """Return how much more each value is than its base, in the order in which they were taken."""
    return [100 * (value / base - 1) for value, base in zip(values, bases, strict=True)]


if __name__ == "__main__":
    main()
