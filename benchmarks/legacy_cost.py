"""Measure what `apply(legacy=True)` takes, and what calls with today's names pay for it."""

from __future__ import annotations

from pathlib import Path

from fresh import Outcome, interpreters
from results import Measure, options, show

ADDED_LIMIT_PERCENT = 1
CALLS = str(Path(__file__).with_name("programs") / "todays_calls.py")
NAMES = {
    "arguments": "TrainingArguments(…)",
    "configuration": "SFTConfig(…)",
    "load": "from_pretrained(…) of a tiny model",
    "tokens": "a tokenizer, called with nothing old",
}

_START = """
import json, time
import patchkit
patchkit.apply(only=[])
before = time.process_time()
from trl import SFTTrainer
between = time.process_time()
patchkit.apply(only=[], legacy=True)
after = time.process_time()
print("\\n" + json.dumps({"import": between - before, "layer": after - between}))
"""


def main() -> None:
    parser = options(__doc__, rounds=5)
    chosen = parser.parse_args()
    programs = {
        "start": ["-c", _START],
        "bare": [CALLS, "off"],
        "again": [CALLS, "off"],
        "layer": [CALLS, "on"],
    }
    with interpreters() as python:
        python.take_turns({"start": programs["start"], "bare": programs["bare"]}, 1)
        outcomes = python.take_turns(programs, chosen.rounds)
    starts = outcomes["start"]
    measures = [
        Measure("`from trl import SFTTrainer`", [1000 * start["import"] for start in starts], "ms"),
        Measure(
            "  `apply(legacy=True)` after it", [1000 * start["layer"] for start in starts], "ms"
        ),
        Measure(
            "    of the import",
            [100 * start["layer"] / start["import"] for start in starts],
            "%",
            ADDED_LIMIT_PERCENT,
        ),
    ]
    for call, name in NAMES.items():
        bare = [outcome[call] for outcome in outcomes["bare"]]
        measures += [
            Measure(name, bare, "µs"),
            Measure("  with the layer", _ratios(outcomes["layer"], call, bare), "times"),
            Measure("  without it once more", _ratios(outcomes["again"], call, bare), "times"),
        ]
    show(measures, as_json=chosen.json)


def _ratios(outcomes: list[Outcome], call: str, bare: list[float]) -> list[float]:
    return [outcome[call] / base for outcome, base in zip(outcomes, bare, strict=True)]


if __name__ == "__main__":
    main()
