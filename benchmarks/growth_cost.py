"""Measure what a thousand patches add to a plain `apply()` that an earlier process remembered.

Each rewrites a function of its own in a made-up library, all of whose modules are imported.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fresh import Interpreters, interpreters
from results import Measure, options, show

FEW, MANY = 46, 1000
MODULES = 20
LIMIT_MS = 15
LONG_AGO = 1_700_000_000
"""Nothing is kept of files that have just been written."""

_FUNCTION = """
def f{number}(size, *, scale=1.0):
    found = []
    for index in range(size):
        if index % 2:
            found.append(bug() * scale)
        else:
            found.append((index, "text {number}"))
    return found
"""
_PATCH = """
from patchkit.authoring import Patch, Pattern, Rewrite, Rule, replace

PATCH = Patch(
    id="madeup-{number}",
    title="fixed",
    affects={{"madeup": ">=1"}},
    changes=(
        Rewrite(
            "madeup.module{module}:f{number}",
            Rule(Pattern("bug()"), lambda node: [replace(node, "1")], names=("bug",)),
        ),
    ),
)
"""
_START = """
import json, sys, time
import difflib, fnmatch, hashlib, importlib.metadata, logging, tokenize, typing
import {modules}
before = time.process_time()
import patchkit
patchkit.apply()
spent = time.process_time() - before
fixed = sum(
    "bug" not in function.__code__.co_names
    for name, module in sys.modules.items() if name.startswith("madeup.")
    for function in vars(module).values() if getattr(function, "__module__", "") == name
    and function.__name__ != "bug"
)
session = "patchkit.engine.session" in sys.modules
print("\\n" + json.dumps({{"cpu": spent, "fixed": fixed, "session": session}}))
"""


def main() -> None:
    chosen = options(__doc__, rounds=7).parse_args()
    with interpreters() as python, tempfile.TemporaryDirectory() as folder:
        modules = _library(Path(folder))
        programs = {}
        for count in (FEW, MANY):
            patches = Path(folder, f"patches{count}")
            _patches(patches, count)
            start = _START.format(modules=modules)
            setup = f"import os, sys\nos.environ['PATCHKIT_PATCHES'] = {str(patches)!r}\n"
            setup += f"sys.path.insert(0, {folder!r})\n"
            programs[str(count)] = ["-c", setup + start]
        _warm_up(python, programs)
        outcomes = python.take_turns(programs, chosen.rounds)
    few, many = ([1000 * run["cpu"] for run in outcomes[str(count)]] for count in (FEW, MANY))
    more = [after - before for before, after in zip(few, many, strict=True)]
    measures = [
        Measure(f"`apply()` of {FEW} patches beside the catalogue, CPU", few, "ms"),
        Measure(f"`apply()` of {MANY}, CPU", many, "ms"),
        Measure("  more", more, "ms", LIMIT_MS),
    ]
    show(measures, as_json=chosen.json)


def _warm_up(python: Interpreters, programs: dict[str, list[str]]) -> None:
    """Let each program be remembered, and make sure that it is."""
    for count, program in programs.items():
        for _ in range(2):
            python.run(program)
        found = python.run(program)
        if found["session"] or found["fixed"] != int(count):
            raise RuntimeError(f"not remembered: {found}")


def _library(folder: Path) -> str:
    """Write the library; return the names of its modules."""
    package = folder / "madeup"
    package.mkdir()
    _write(package / "__init__.py", "")
    for module in range(MODULES):
        numbers = range(module, MANY, MODULES)
        source = "def bug():\n    return 0\n" + "".join(
            _FUNCTION.format(number=number) for number in numbers
        )
        _write(package / f"module{module}.py", source)
    record = folder / "madeup-1.0.dist-info"
    record.mkdir()
    _write(record / "METADATA", "Metadata-Version: 2.1\nName: madeup\nVersion: 1.0\n")
    return ", ".join(f"madeup.module{module}" for module in range(MODULES))


def _patches(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        text = _PATCH.format(number=number, module=number % MODULES)
        _write(folder / f"patch{number}.py", text)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    os.utime(file, (LONG_AGO, LONG_AGO))


if __name__ == "__main__":
    main()
