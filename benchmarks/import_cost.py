"""Measure what patchkit adds to a program's start, and to `from trl import SFTTrainer`."""

from __future__ import annotations

from importlib.util import find_spec

from fresh import Interpreters, Outcome, interpreters
from results import Measure, options, show

IMPORT_LIMIT_MS = 60
ADDED_LIMIT_PERCENT = 2

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

# Parts of patchkit's work: its import, `apply()`, preparing for a library as it is imported, and
# fixing each module when it is loaded.
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
    import patchkit.engine.session
measured(load)()
from patchkit.engine.session import Session
Session.before_import = measured(Session.before_import)
Session.after_import = measured(Session.after_import)
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
            _added_to_trl(python, chosen.rounds, measures)
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


def _added_to_trl(python: Interpreters, rounds: int, measures: list[Measure]) -> None:
    trainer = "from trl import SFTTrainer"
    start = "import patchkit; patchkit.apply()"
    programs = {
        "without": _program(trainer, after=_MODULES),
        "with": _program(f"{start}; {trainer}"),
        "apply": _program(f"import patchkit.engine.session; {start}.summary()", after=_MODULES),
    }
    first = python.take_turns(programs, 1)
    taken = set(first["apply"][0]["modules"])
    shared = [name for name in first["without"][0]["modules"] if name in taken]
    del programs["apply"]
    parts = {"after": "outcome['wall'], outcome['cpu'] = wall, cpu"}
    programs["parts"] = _program(_PARTS + trainer, **parts)
    programs["own parts"] = _program(_PARTS + trainer, before=_importing(shared), **parts)
    programs["late"] = _program(start, before=trainer)
    outcomes = python.take_turns(programs, rounds)
    for clock in ("cpu", "wall"):
        kind = clock.upper() if clock == "cpu" else clock
        yardstick = _ms(outcomes["without"], clock)
        measures += [
            Measure(f"`{trainer}`, {kind}", yardstick, "ms"),
            Measure("  the same after `apply()`", _ms(outcomes["with"], clock), "ms"),
        ]
        added = [w - wo for w, wo in zip(_ms(outcomes["with"], clock), yardstick, strict=True)]
        rows = {
            "added, by difference": added,
            "added, by its parts": _ms(outcomes["own parts"], clock),
            "added where trl was imported first": _ms(outcomes["late"], clock),
        }
        for name, samples in rows.items():
            share = [100 * ms / base for ms, base in zip(samples, yardstick, strict=True)]
            measures.append(Measure(f"  {name}", samples, "ms"))
            measures.append(Measure("    of the import", share, "%", ADDED_LIMIT_PERCENT))
        measures.append(
            Measure("  its parts and all they import", _ms(outcomes["parts"], clock), "ms")
        )


def _program(timed: str, *, before: str = "", after: str = "") -> list[str]:
    return ["-c", _CLOCKS.format(before=before, timed=timed, after=after)]


def _importing(modules: list[str]) -> str:
    """Return code that imports what trl needs as well, and is therefore no cost of patchkit."""
    return f"import importlib\nfor name in {modules!r}:\n    importlib.import_module(name)"


def _ms(outcomes: list[Outcome], clock: str) -> list[float]:
    return [1000 * outcome[clock] for outcome in outcomes]


if __name__ == "__main__":
    main()
