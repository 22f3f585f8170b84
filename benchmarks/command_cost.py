"""Measure what commands take, and what `patchkit run` adds to the start of an interpreter."""

from __future__ import annotations

from fresh import Outcome, interpreters
from results import Measure, options, show

LIST_LIMIT_MS = 300

_TIMED = """
import json, os, subprocess, sys, time
wall = time.perf_counter()
subprocess.run([sys.executable, *{arguments!r}], check=True, stdout=subprocess.DEVNULL)
wall = time.perf_counter() - wall
cpu = os.times().children_user + os.times().children_system
print(json.dumps({{"wall": wall, "cpu": cpu}}))
"""
_PATCHKIT = ["-m", "patchkit"]
_EMPTY = ["-c", "pass"]
COMMANDS = {
    "an empty interpreter": _EMPTY,
    "the same under `patchkit run`": [*_PATCHKIT, "run", "--", "python", *_EMPTY],
    "`patchkit --help`": [*_PATCHKIT, "--help"],
    "`patchkit list`": [*_PATCHKIT, "list"],
    "`patchkit report`": [*_PATCHKIT, "report"],
    "`patchkit explain trl-adapter-bf16-cast`": [*_PATCHKIT, "explain", "trl-adapter-bf16-cast"],
    "`patchkit doctor --quick`": [*_PATCHKIT, "doctor", "--quick"],
}


def main() -> None:
    chosen = options(__doc__, rounds=9).parse_args()
    programs = {
        name: ["-c", _TIMED.format(arguments=arguments)] for name, arguments in COMMANDS.items()
    }
    with interpreters() as python:
        python.take_turns(programs, 1)
        by_name = python.take_turns(programs, chosen.rounds)
    empty = next(iter(COMMANDS))
    measures: list[Measure] = []
    for name, outcomes in by_name.items():
        limit = LIST_LIMIT_MS if name == "`patchkit list`" else None
        measures.append(Measure(f"{name}, wall", _ms(outcomes, "wall"), "ms", limit))
        measures.append(Measure("  CPU", _ms(outcomes, "cpu"), "ms"))
        if name != empty:
            ratios = [
                outcome["wall"] / bare["wall"]
                for outcome, bare in zip(outcomes, by_name[empty], strict=True)
            ]
            measures.append(Measure("  times an empty one", ratios, ""))
    show(measures, as_json=chosen.json)


def _ms(outcomes: list[Outcome], clock: str) -> list[float]:
    return [1000 * float(outcome[clock]) for outcome in outcomes]


if __name__ == "__main__":
    main()
