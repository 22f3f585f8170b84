"""Measure what patchkit adds to a program's start, and to an import of TRL's trainers.

Warm: another process has kept what its call came to. Cold: the folder for that is empty. Not kept:
there is no such folder.
"""

from __future__ import annotations

from importlib.util import find_spec

from fresh import Interpreters, Outcome, interpreters
from results import Measure, options, show

IMPORT_LIMIT_MS = 60
LIMITS_PERCENT = {"warm": 1, "cold": 6, "not kept": 6}
LEGACY_LIMIT_PERCENT = 0.5

LEFT_ALONE = (
    "torch",
    "transformers",
    "trl",
    "numpy",
    "wrapt",
    "packaging",
    "importlib.metadata",
    "yaml",
    "rich",
    "click",
)

_CLOCKS = """
import sys, time
{before}
wall, cpu = time.perf_counter(), time.process_time()
{timed}
outcome = {{"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}}
{after}
import json
print("\\n" + json.dumps(outcome))
"""
_MODULES = "outcome['modules'] = list(sys.modules)"

_TRAINERS = "from trl import SFTTrainer, DPOTrainer, GRPOTrainer\n"
_KEPT = {
    "warm": "",
    "cold": "import os, tempfile; os.environ['PATCHKIT_CACHE'] = tempfile.mkdtemp()\n",
    "not kept": "import os; os.environ['PATCHKIT_CACHE'] = 'off'\n",
}
_TIMED_IMPORT = f"""
import time
wall, cpu = time.perf_counter(), time.process_time()
{_TRAINERS}
its = time.perf_counter() - wall, time.process_time() - cpu
"""
_ITS = "outcome['import wall'], outcome['import cpu'] = its"
_COUNTED = (
    "sources read",
    "texts parsed or compiled",
    "modules of patchkit imported",
    "patch files imported",
)
_COUNTING = """
counts = dict.fromkeys({counted!r}, 0)
def count(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".py"):
        counts["sources read"] += 1
    elif event == "compile" and arguments[1] != "<string>":  # as the modules of the library do
        counts["texts parsed or compiled"] += 1
    elif event == "import" and str(arguments[0]).startswith("patchkit.patches."):
        counts["patch files imported"] += 1
    elif event == "import" and str(arguments[0]).startswith("patchkit."):
        counts["modules of patchkit imported"] += 1
sys.addaudithook(count)
"""
_COUNTS = "outcome = dict(counts)"

# Parts of patchkit's work: its import, `apply()`, and what it does as a library and each of its
# modules is imported.
_PARTS = """
wall = cpu = 0.0
def measured(work):
    def run(*arguments):
        global wall, cpu
        before = time.perf_counter(), time.process_time()
        try:
            return work(*arguments)
        finally:
            wall += time.perf_counter() - before[0]
            cpu += time.process_time() - before[1]
    return run
def load():
    import patchkit.engine.hooks
measured(load)()
from patchkit.engine import hooks
hooks._notify_before = measured(hooks._notify_before)
hooks._notify_after = measured(hooks._notify_after)
measured(sys.modules["patchkit"].apply)()
"""


def main() -> None:
    parser = options(__doc__, rounds=5)
    parser.add_argument("--no-trl", action="store_true", help="measure `import patchkit` only")
    parser.add_argument(
        "--no-bytecode",
        action="store_true",
        help="as with PYTHONDONTWRITEBYTECODE: what is installed is compiled by each import",
    )
    chosen = parser.parse_args()
    measures: list[Measure] = []
    notes: list[str] = []
    with interpreters(bytecode=not chosen.no_bytecode) as python:
        _own_import(python, chosen.rounds, measures, notes)
        if not chosen.no_trl and find_spec("trl") is not None:
            _added_to_trl(python, chosen.rounds, measures, notes)
    show(measures, notes, as_json=chosen.json)


def _own_import(
    python: Interpreters, rounds: int, measures: list[Measure], notes: list[str]
) -> None:
    whole = "outcome['cpu'] = time.process_time()"
    programs = {
        "empty": _program("pass", after=whole),
        "patchkit": _program("import patchkit", after=whole),
        "import": _program("import patchkit", after=_MODULES),
    }
    first = python.take_turns(programs, 1)
    loaded = [name for name in LEFT_ALONE if name in first["import"][0]["modules"]]
    outcomes = python.take_turns(programs, rounds)
    measures += [
        Measure("an empty interpreter, CPU", _ms(outcomes["empty"], "cpu"), "ms"),
        Measure("one that imports patchkit, CPU", _ms(outcomes["patchkit"], "cpu"), "ms"),
        Measure("`import patchkit`, CPU", _ms(outcomes["import"], "cpu"), "ms", IMPORT_LIMIT_MS),
        Measure("`import patchkit`, wall", _ms(outcomes["import"], "wall"), "ms", IMPORT_LIMIT_MS),
    ]
    notes.append(f"of {', '.join(LEFT_ALONE)} it loads: {', '.join(loaded) or 'none'}")


def _added_to_trl(
    python: Interpreters, rounds: int, measures: list[Measure], notes: list[str]
) -> None:
    start = "import patchkit; patchkit.apply()"
    shared = _shared(python, start)
    parts = {"after": "outcome['wall'], outcome['cpu'] = wall, cpu"}
    first = _importing(shared)
    programs = {
        name: _program(start, before=kept + _TIMED_IMPORT, after=_ITS)
        for name, kept in _KEPT.items()
    }
    programs["legacy"] = _program(
        "import patchkit; patchkit.apply(legacy=True)", before=_TIMED_IMPORT, after=_ITS
    )
    programs["parts"] = _program(_PARTS + _TRAINERS, before=first, **parts)
    counting = _COUNTING.format(counted=_COUNTED)
    counted = {
        name: python.run(_program(start, before=kept + _TRAINERS + counting, after=_COUNTS))
        for name, kept in [("not kept", _KEPT["not kept"]), ("first", ""), ("warm", "")]
    }
    notes += [
        f"{name}: " + ", ".join(f"{counted[name][what]} {what}" for what in _COUNTED)
        for name in ("not kept", "warm")
    ]
    python.take_turns(programs, 1)
    outcomes = python.take_turns(programs, rounds)
    for clock in ("cpu", "wall"):
        kind = clock.upper() if clock == "cpu" else clock
        bases = {
            name: _ms(outcomes[name], f"import {clock}") for name in programs if name != "parts"
        }
        measures.append(Measure(f"`{_TRAINERS.strip()}`, {kind}", bases["warm"], "ms"))
        shares = {}
        for name, base in bases.items():
            samples = _ms(outcomes[name], clock)
            shares[name] = _shares(samples, base)
            call = "`apply(legacy=True)`, warm" if name == "legacy" else f"`apply()`, {name}"
            measures.append(Measure(f"  {call}, after it", samples, "ms"))
            measures.append(
                Measure("    of the import", shares[name], "%", LIMITS_PERCENT.get(name))
            )
        more = [
            with_it - plain for with_it, plain in zip(shares["legacy"], shares["warm"], strict=True)
        ]
        measures.append(Measure("    more than `apply()`", more, "%", LEGACY_LIMIT_PERCENT))
        samples = _ms(outcomes["parts"], clock)
        measures.append(Measure("  `apply()`, warm, before it, by parts", samples, "ms"))
        share = _shares(samples, bases["warm"])
        measures.append(Measure("    of the import", share, "%", LIMITS_PERCENT["warm"]))


def _shares(samples: list[float], bases: list[float]) -> list[float]:
    return [100 * ms / base for ms, base in zip(samples, bases, strict=True)]


def _shared(python: Interpreters, start: str) -> list[str]:
    """Return the modules that both TRL and patchkit import."""
    without = python.run(_program(_TRAINERS, after=_MODULES))
    alone = _program(f"import patchkit.engine.session; {start}.summary()", after=_MODULES)
    taken = set(python.run(alone)["modules"])
    return [name for name in without["modules"] if name in taken]


def _program(timed: str, *, before: str = "", after: str = "") -> list[str]:
    return ["-c", _CLOCKS.format(before=before, timed=timed, after=after)]


def _importing(modules: list[str]) -> str:
    """Return code that imports what trl needs as well, and is therefore no cost of patchkit."""
    return f"import importlib\nfor name in {modules!r}:\n    importlib.import_module(name)"


def _ms(outcomes: list[Outcome], clock: str) -> list[float]:
    return [1000 * outcome[clock] for outcome in outcomes]


if __name__ == "__main__":
    main()
