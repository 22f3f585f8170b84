"""Run a script on a set of versions, and return its result."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import ROOT
from ..sweep import calling
from ..sweep.calling import call, last_error
from .eras import EraScript

CHILD = Path(__file__).resolve().parent / "child"
OBSERVER = CHILD.parent / "observer"
STEPS = 3
LIMIT = 900.0
"""Seconds that a script may take."""
TRAINED, RAN, FAILED, OUT_OF_TIME = "trained", "ran", "failed", "out of time"
_TOLD = 40
"""Lines of patchkit that are kept."""
_KEPT = 300
"""Characters of an error that are kept."""


def stand_ins(python: Path, folder: Path) -> dict[str, str]:
    """Build what stands in for the Hub, where it is missing; return the variables that name it."""
    built = folder / "models.txt"
    name = python.parents[1].name
    done = set(built.read_text().split()) if built.exists() else set()
    if name not in done:
        _build(python, "build_models.py", folder)
        built.write_text(" ".join(sorted({*done, name})))
    datasets = folder / f"datasets-{name}"
    if not datasets.exists():
        half = folder / f"datasets-{name}.part"
        shutil.rmtree(half, ignore_errors=True)
        _build(python, "build_datasets.py", half)
        half.rename(datasets)
    return {
        "HF_HOME": str(folder / "home"),
        "HF_HUB_CACHE": str(folder / "hub"),
        "HF_DATASETS_CACHE": str(datasets),
    }


def run(
    script: EraScript,
    python: Path,
    cache: Path,
    prefix: tuple[str, ...] = (),
    prepare: Callable[[Path, EraScript], dict[str, Any]] | None = None,
    limit: float = LIMIT,
) -> dict[str, Any]:
    """Run a script in a copy of its folder.

    Args:
        script: the script.
        python: the Python of the set of versions.
        cache: the folder of what stands in for the Hub.
        prefix: the arguments of this Python that come before the script's command.
        prepare: changes the copy before it runs; what it returns is part of the result.
        limit: seconds that it may take.

    Returns:
        What happened: `state`, `losses` by step, `logged` losses, the first `batch`, `error`, the
        script's `line` that raised it, the lines that `patchkit` wrote, `seconds`.
    """
    variables = stand_ins(python, cache)
    with tempfile.TemporaryDirectory(prefix="legacy-") as folder:
        work, observed, tools = (Path(folder) / name for name in ("work", "observed", "tools"))
        shutil.copytree(script.path.parent, work)
        observed.mkdir()
        _tools(tools)
        prepared = prepare(work, script) if prepare is not None else {}
        env = _environment(variables, python, observed, tools)
        started = time.monotonic()
        code, output = call(_command(script, python, prefix), work, env, limit, work.parent / "log")
        seconds = round(time.monotonic() - started, 1)
        events = _events(observed)
    result: dict[str, Any] = {"state": _state(code, events), "seconds": seconds, **_course(events)}
    result.update(prepared)
    if code != 0:
        result["error"], result["line"] = _failure(output, script)
    if prefix:
        lines = [line for line in output.splitlines() if "patchkit" in line]
        result["told"] = [line for line in lines if "site-packages" not in line][-_TOLD:]
    return result


def _build(python: Path, program: str, folder: Path) -> None:
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    env.pop("PYTHONPATH", None)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [str(python), str(CHILD / program), str(folder)], env=env, check=True, capture_output=True
    )


def _command(script: EraScript, python: Path, prefix: tuple[str, ...]) -> list[str]:
    name = script.path.name
    if script.path.suffix == ".sh":
        command = ["bash", name]
    elif script.path.suffix == ".ipynb":
        command = [str(python), str(CHILD / "run_notebook.py"), name]
    else:
        command = [str(python), name]
    return [str(python), *prefix, *command] if prefix else command


def _tools(folder: Path) -> None:
    """Lay out a `pip` that installs nothing: notebooks begin with it."""
    folder.mkdir()
    pip = folder / "pip"
    pip.write_text("#!/bin/sh\nexit 0\n")
    pip.chmod(0o755)


def _environment(
    variables: dict[str, str], python: Path, observed: Path, tools: Path
) -> dict[str, str]:
    ours = ("PATCHKIT", "HF_", "TRANSFORMERS_", "ACCELERATE_", "WANDB_", "PYTHON", "TRL_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **env,
        **variables,
        "PATH": os.pathsep.join([str(tools), str(python.parent), env.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(OBSERVER), str(ROOT)]),
        "LEGACY_OBSERVED": str(observed),
        "LEGACY_STEPS": str(STEPS),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "WANDB_MODE": "disabled",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }


def _events(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def _state(code: int, events: list[dict[str, Any]]) -> str:
    if code == calling.OUT_OF_TIME:
        return OUT_OF_TIME
    if code != 0:
        return FAILED
    return TRAINED if any("loss" in event or "logged" in event for event in events) else RAN


def _course(events: list[dict[str, Any]]) -> dict[str, Any]:
    losses: dict[int, float] = {}
    for event in events:
        if "loss" in event:
            losses[event["step"]] = losses.get(event["step"], 0.0) + event["loss"]
    batches = [event["batch"] for event in events if "batch" in event]
    return {
        "losses": [round(loss, 6) for loss in losses.values()],
        "logged": [event["logged"] for event in events if "logged" in event],
        "batch": batches[0] if batches else {},
    }


def _failure(output: str, script: EraScript) -> tuple[str, str]:
    """Return the last error of an output, and the line of the script that led to it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    ours = re.compile(rf'File "[^"]*\b{re.escape(script.path.stem)}\.py", line |Cell In')
    led = [after for text, after in itertools.pairwise(lines) if ours.match(text)]
    return last_error(output)[:_KEPT], led[-1][:_KEPT] if led else ""
