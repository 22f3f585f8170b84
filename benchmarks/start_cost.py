"""Measure what patchkit adds to the start of an interpreter, in CPU time, as ratios."""

from __future__ import annotations

import statistics

from fresh import Outcome, interpreters
from results import Measure, options, show

UNIT = "import wrapt, packaging.specifiers, importlib.metadata"
_TIMED = """
import json, os, resource, subprocess, sys
subprocess.run({command}, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
spent = resource.getrusage(resource.RUSAGE_CHILDREN)  # finer than os.times
print(json.dumps({{"cpu": spent.ru_utime + spent.ru_stime}}))
"""
_CODE = {
    "bare": "pass",
    "unit": UNIT,
    "apply": "import patchkit; patchkit.apply()",
    "child": "pass",
}
_RUN_ENVIRONMENT = """
import json, os
from patchkit.engine.choices import Choices
from patchkit.cli.run.variables import command_environment
print(json.dumps(command_environment(os.environ, Choices().encode())))
"""
_MANY = """
import json, time
from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.engine.choices import Choices
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace
from patchkit.engine.session import Session

rule = Rule(Pattern("bug()"), lambda node: [replace(node, "1")], names=("bug",))
patches = [
    Patch(
        id=f"trl-made-up-{number}",
        title="fixed",
        affects={"trl": ">=0.1"},
        changes=(Rewrite(f"trl.trainer.sft_trainer:f{number}", rule),),
    )
    for number in range(COUNT)
]
session = Session(Catalogue({patch.id: Entry(patch, "made up", None) for patch in patches}))
before = time.process_time()
session.apply(Choices())
print(json.dumps({"cpu": time.process_time() - before}))
"""


def main() -> None:
    chosen = options(__doc__, rounds=15).parse_args()
    with interpreters() as python:
        run = python.run(["-c", _RUN_ENVIRONMENT])
        start = {name: run[name] for name in ("PYTHONPATH", "PATCHKIT_RUN")}
        commands = {name: f"[sys.executable, '-c', {code!r}]" for name, code in _CODE.items()}
        commands["child"] += f", env={{**os.environ, **{start!r}}}"
        whole = "[sys.executable, '-m', 'patchkit', 'run', '--', sys.executable, '-c', 'pass']"
        commands["run"] = whole
        programs = {
            name: ["-c", _TIMED.format(command=command)] for name, command in commands.items()
        }
        for count in (30, 1000):
            programs[f"{count} patches"] = ["-c", _MANY.replace("COUNT", str(count))]
        python.take_turns(programs, 1)
        outcomes = python.take_turns(programs, chosen.rounds)
    ms = {name: [1000 * _cpu(outcome) for outcome in outcomes[name]] for name in outcomes}
    bare = statistics.median(ms["bare"])
    units = [unit - bare for unit in ms["unit"]]
    more = [many - few for many, few in zip(ms["1000 patches"], ms["30 patches"], strict=True)]
    measures = [
        Measure("a bare interpreter", ms["bare"], "ms"),
        Measure(f"`{UNIT}`: the unit", units, "ms"),
        Measure(
            "`import patchkit; patchkit.apply()`", [sample - bare for sample in ms["apply"]], "ms"
        ),
        Measure(
            "  in units",
            [(sample - bare) / unit for sample, unit in zip(ms["apply"], units, strict=True)],
            "",
            0.5,
        ),
        Measure("`patchkit run -- python -c pass`, in all", ms["run"], "ms"),
        Measure("  times a bare one", [sample / bare for sample in ms["run"]], "", 100 / 16),
        Measure(
            "a further interpreter under it, more", [sample - bare for sample in ms["child"]], "ms"
        ),
        Measure("  of a bare one", [(child - bare) / bare for child in ms["child"]], "", 10 / 16),
        Measure("apply() of 1,000 patches, more than of 30", more, "ms", 25),
    ]
    show(measures, as_json=chosen.json)


def _cpu(outcome: Outcome) -> float:
    return float(outcome["cpu"])


if __name__ == "__main__":
    main()
