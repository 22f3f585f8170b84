"""What docs/architecture.md says of three calls, held against the functions that they go through."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

import pytest

from .legacy.with_libraries import programs

ROOT = Path(__file__).parents[1]
PROFILE = """
import importlib.util, inspect, json, os, sys

# These are no part of a flow, and slow under a profile.
for library in ("torch", "datasets", "peft", "transformers.trainer") if {libraries} else ():
    importlib.import_module(library)

ROOT = os.path.dirname(os.path.dirname(importlib.util.find_spec("patchkit").origin)) + "/"
calls = []

def note(frame, event, argument):
    code = frame.f_code
    # Bodies of classes and modules run as they are imported.
    if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(ROOT):
        call = [code.co_filename[len(ROOT):], code.co_qualname]
        if call not in calls:
            calls.append(call)

sys.setprofile(note)
try:
    exec({program!r}, {{}})
except SystemExit:
    pass
finally:
    sys.setprofile(None)
print("\\n" + json.dumps(calls))
"""


def steps(heading: str) -> list[tuple[str, str]]:
    """Return the file and the function of each step below a heading."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, _, section = text.partition(f"\n## {heading}")
    section = section.partition("\n## ")[0]
    return re.findall(r"^\d+\. `(\S+\.py)` `([\w.]+)`", section, re.MULTILINE)


def calls_of(program: str, folder: Path, *, libraries: bool = False) -> list[tuple[str, str]]:
    """Run a program in a process of its own; return patchkit's functions in the order of their first calls."""
    if sys.version_info < (3, 11):
        pytest.skip("code has no qualified name before Python 3.11")
    code = PROFILE.format(libraries=libraries, program=textwrap.dedent(program))
    file = folder / "script.py"
    file.write_text(code, encoding="utf-8")
    without = {"PATCHKIT_CACHE": "off"}  # what is kept shortens the flow
    if libraries:
        done = programs.run_script(file, folder=folder, **without)
    else:
        done = programs.run(sys.executable, str(file), folder=folder, **without)
    assert done.returncode == 0, done.stderr[-4000:]
    return [(file, function) for file, function in json.loads(done.stdout.splitlines()[-1])]


def check(heading: str, calls: list[tuple[str, str]]) -> None:
    """Hold the steps below a heading against calls: each is there, in this order."""
    wanted = steps(heading)
    assert wanted
    last = -1
    for file, function in wanted:
        assert (file, function) in calls, f"{file} {function} is not called"
        place = calls.index((file, function))
        assert place > last, f"{file} {function} comes before the step above it"
        last = place
