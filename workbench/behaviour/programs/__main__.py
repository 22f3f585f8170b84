"""Run the programs with the installed releases, and write what they found as JSON.

    python -m workbench.behaviour.programs OUTPUT [GLOB…]

`BEHAVIOUR_LAYER` is `True` for the legacy layer, or names releases as `apply(legacy=)` takes them.
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib
import inspect
import io
import json
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from . import facts

KINDS = (
    "defaults",
    "datasets_",
    "tokenizing",
    "collating",
    "models",
    "generating",
    "training",
    "evaluating",
    "saving",
    "adapters",
    "accelerating",
    "processing",
    "pipelines_",
    "trl_trainers",
)
START = Path.cwd()
LIBRARIES = (
    "trl",
    "transformers",
    "peft",
    "accelerate",
    "bitsandbytes",
    "datasets",
    "huggingface_hub",
)
Program = Callable[[], Iterator[tuple[str, Any]]]


def main() -> int:
    output, globs = Path(sys.argv[1]).absolute(), sys.argv[2:] or ["*"]
    warnings.simplefilter("ignore")
    layer = os.environ.get("BEHAVIOUR_LAYER", "")
    if layer:
        import patchkit

        patchkit.apply(only=[], legacy=True if layer == "True" else layer)
        _be_older()
    records, said = {}, {}
    for kind in KINDS:
        if not any(fnmatch.fnmatch(kind.rstrip("_"), glob.partition(".")[0]) for glob in globs):
            continue
        module = importlib.import_module(f"workbench.behaviour.programs.{kind}")
        for name, program in inspect.getmembers(module, inspect.isfunction):
            label = f"{kind.rstrip('_')}.{name}"
            if name.startswith("_") or program.__module__ != module.__name__:
                continue
            if any(fnmatch.fnmatch(label, glob) for glob in globs):
                records[label], said[label] = run(program)
    releases = {name: metadata.version(name) for name in LIBRARIES}
    result = {"releases": releases, "layer": layer, "records": records, "said": said}
    output.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def _be_older() -> None:
    """Use an old spelling, since only older scripts are told what changed without an error."""
    from transformers import TrainingArguments

    TrainingArguments("out", evaluation_strategy="no", use_cpu=True, report_to="none")


def run(program: Program) -> tuple[dict[str, Any], list[str]]:
    """Run a program.

    Returns:
        what it found before its end, or before the error in `raised`, and patchkit's lines.
    """
    found: dict[str, Any] = {}
    written = io.StringIO()
    start_afresh()
    with contextlib.redirect_stderr(written), contextlib.redirect_stdout(written):
        try:
            for name, value in program():
                found.update(facts.flat(facts.of(value), name))
        except ImportError as error:
            found["raised"] = f"ImportError: {str(error).splitlines()[0]}"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            lines = str(error).splitlines() or [""]
            found["raised"] = f"{type(error).__name__}: {lines[0][:160]}"
            found["raised at"] = traceback.extract_tb(error.__traceback__)[1:2][0].line or ""
    lines = written.getvalue().splitlines()
    return found, [line for line in lines if line.startswith("patchkit:")]


def start_afresh() -> None:
    """Forget what another program left in the environment, in Accelerate's state and on disk."""
    from accelerate.state import AcceleratorState

    for name in [name for name in os.environ if name.startswith("ACCELERATE_")]:
        del os.environ[name]
    AcceleratorState._reset_state(True)
    os.chdir(tempfile.mkdtemp(dir=START))


if __name__ == "__main__":
    sys.exit(main())
