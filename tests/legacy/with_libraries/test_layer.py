"""The legacy layer on the real libraries: off, on, and off again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from .programs import printed, run, run_script

# Accelerate is imported in a quarter of the time that TrainingArguments takes.
OLD = """
from accelerate import Accelerator
print(Accelerator(cpu=True, logging_dir="out").project_dir)
"""

WHOLE = """
import inspect, json, sys
import patchkit
from transformers import TrainingArguments
from trl import SFTTrainer
import trl

def state():
    return {
        "code": id(SFTTrainer.__init__.__code__),
        "function": id(SFTTrainer.__init__),
        "signature": str(inspect.signature(SFTTrainer)),
        "documentation": SFTTrainer.__init__.__doc__,
        "attributes": sorted(vars(SFTTrainer)),
        "finders": list(map(id, sys.meta_path)),
        "names": "__getattr__" in vars(trl),
    }

def attempt():
    try:
        return TrainingArguments("out", evaluation_strategy="no", use_cpu=True).eval_strategy.value
    except Exception as error:
        return str(error)

before, found = state(), [attempt()]
patchkit.apply(only=[], legacy=True)
inside = state()
for _ in range(2):
    found.append(attempt())
report = patchkit.report()
patchkit.revert()
found.append(attempt())
with patchkit.patched(only=[], legacy=True):
    found.append(attempt())
found.append(attempt())
print(json.dumps({
    "same code": all(before[key] == inside[key] for key in before if key not in ("finders", "names")),
    "given back": before == state(),
    "found": found,
    "report": report.to_dict()["legacy"],
    "text": str(report),
    "html": report._repr_html_(),
    "after": patchkit.report().to_dict()["legacy"],
}))
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "whole.py").write_text(WHOLE)
    done = run_script(folder / "whole.py", folder=folder)
    answer: dict[str, Any] = printed(done)
    answer["log"] = [line for line in done.stderr.splitlines() if line.startswith("patchkit: ")]
    return answer


def test_today_s_names_run_today_s_code(whole) -> None:
    assert whole["same code"]


def test_everything_is_given_back(whole) -> None:
    assert whole["given back"]
    assert whole["after"] is None


def test_old_spellings_work_where_they_were_asked_for(whole) -> None:
    refused, *asked, reverted, block, end = whole["found"]
    assert "unexpected keyword argument 'evaluation_strategy'" in refused
    assert asked == ["no", "no"]
    assert (reverted, block, end) == (refused, "no", refused)


def test_each_use_is_reported_and_told_once(whole) -> None:
    (use,) = whole["report"]["uses"]
    assert Path(use["file"]).name == "whole.py"
    assert WHOLE.splitlines()[use["line"] - 1].strip().startswith("return TrainingArguments")
    assert (use["old"], use["count"]) == ("TrainingArguments(evaluation_strategy=)", 2)
    line = f"whole.py:{use['line']}: {use['message']}"
    assert "write eval_strategy=" in line
    assert whole["log"] == [f"patchkit: {line}", f"patchkit: {line}"]  # once, and in the block
    assert line in " ".join(whole["text"].split())
    assert "TrainingArguments(evaluation_strategy=)" in whole["html"]


def test_under_run(tmp_path) -> None:
    (tmp_path / "old.py").write_text(OLD)
    patchkit = (sys.executable, "-m", "patchkit", "run")
    bare = run(*patchkit, "--", sys.executable, "old.py", folder=tmp_path)
    assert "unexpected keyword argument" in bare.stderr
    fixed = run(*patchkit, "--legacy", "--", sys.executable, "old.py", folder=tmp_path)
    assert (fixed.returncode, fixed.stdout) == (0, "out\n")
    summary = fixed.stderr.partition("old spellings work; 1 met so far\n")[2]
    assert summary.startswith("  old.py:3: Accelerator(logging_dir=) ")
    second = run(*patchkit, "--legacy", "--", sys.executable, "old.py", folder=tmp_path, RANK="1")
    assert (second.returncode, second.stderr.count("logging_dir")) == (0, 0)


def test_the_variable(tmp_path) -> None:
    (tmp_path / "old.py").write_text("import patchkit; patchkit.apply()\n" + OLD)
    script = tmp_path / "old.py"
    assert run_script(script, folder=tmp_path).returncode == 1
    fixed = run_script(script, folder=tmp_path, PATCHKIT_LEGACY="1")
    assert (fixed.returncode, fixed.stdout) == (0, "out\n")
