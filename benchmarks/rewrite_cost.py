"""Measure what it takes to rewrite the `__init__` of one trainer of TRL, in CPU time."""

from __future__ import annotations

from pathlib import Path

from fresh import interpreters
from results import Measure, options, show

PROGRAM = Path(__file__).parent / "programs" / "rewrite_trainers.py"
LIMIT_MS = 40
_PARTS = ("locate", "plan", "install")


def main() -> None:
    chosen = options(__doc__, rounds=5).parse_args()
    with interpreters() as python:
        outcomes = [python.run([str(PROGRAM), str(shift)]) for shift in range(chosen.rounds)]
    measures: list[Measure] = []
    for trainer in outcomes[0]:
        samples = {
            part: [1000 * outcome[trainer][part] for outcome in outcomes]
            for part in outcomes[0][trainer]
        }
        whole = [sum(parts) for parts in zip(*(samples[part] for part in _PARTS), strict=True)]
        look = [1000 * sample for sample in samples["look"]]
        measures += [
            Measure(f"{trainer}, first look at the compiled code", look, "µs"),
            Measure("  rewritten", whole, "ms", LIMIT_MS),
            *(Measure(f"    {part}", samples[part], "ms") for part in _PARTS),
            Measure("  put back", samples["undo"], "ms"),
            Measure("  `inspect.getsource` alone", samples["getsource"], "ms"),
        ]
    show(measures, as_json=chosen.json)


if __name__ == "__main__":
    main()
