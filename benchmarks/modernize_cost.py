"""Measure what it takes to write 1,000 lines of old scripts anew."""

from __future__ import annotations

from pathlib import Path

from fresh import interpreters
from results import Measure, options, show

SCRIPTS = Path(__file__).parents[1] / "tests" / "legacy" / "scripts"
LINES = 1000
LIMIT_MS = 2000

_PROGRAM = """
import json, os, sys, time
from pathlib import Path
begin = time.perf_counter(), time.process_time()
from patchkit.modernize.python import modernize
from patchkit.modernize.target import due_for
text = ""
for path in sorted(Path({folder!r}).glob("*/*.py")):
    if text.count("\\n") < {lines}:
        text += path.read_text()
due = due_for("trl==1.16.0,transformers==5.23.0,peft==0.21.2,accelerate==1.15.0")
modernize("from trl import ORPOTrainer\\n", due)
middle = time.perf_counter(), time.process_time()
modernize(text, due)
end = time.perf_counter(), time.process_time()
whole, alone = end[0] - begin[0], end[0] - middle[0]
print(json.dumps({{"whole": whole, "alone": alone, "cpu": end[1] - begin[1]}}))
"""


def main() -> None:
    chosen = options(__doc__, rounds=9).parse_args()
    program = ["-c", _PROGRAM.format(folder=str(SCRIPTS), lines=LINES)]
    with interpreters() as python:
        python.take_turns({"modernize": program}, 1)
        outcomes = python.take_turns({"modernize": program}, chosen.rounds)["modernize"]
    names = {"whole": "with all imports, wall", "cpu": "  CPU", "alone": "without imports, wall"}
    measures = [
        Measure(
            title,
            [1000 * float(outcome[name]) for outcome in outcomes],
            "ms",
            LIMIT_MS if name == "cpu" else None,
        )
        for name, title in names.items()
    ]
    show(measures, [f"{LINES} lines of tests/legacy/scripts"], as_json=chosen.json)


if __name__ == "__main__":
    main()
