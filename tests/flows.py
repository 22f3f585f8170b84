"""What docs/architecture.md says of three calls, held against the functions that they go through."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROFILE = """
import importlib, inspect, json, sys

# These are no part of a flow, and slow under a profile.
for library in ("torch", "datasets", "peft", "transformers.trainer") if {libraries} else ():
    importlib.import_module(library)

ROOT = {root!r} + "/"
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


def calls_of(program: str, *, libraries: bool = False) -> list[tuple[str, str]]:
    """Run a program in a process of its own; return patchkit's functions in the order of their first calls."""
    if sys.version_info < (3, 11):
        pytest.skip("code has no qualified name before Python 3.11")
    code = PROFILE.format(root=str(ROOT), libraries=libraries, program=textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATCHKIT_CACHE": "off"},  # else what is kept shortens the flow
    )
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
