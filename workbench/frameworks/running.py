"""Start a training as a user would, and return what came of it."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from patchkit.text import shorten

from .. import ROOT
from ..sweep.calling import OUT_OF_TIME, call, last_error, named_error
from ..sweep.trial import Trial
from .framework import Framework, Training
from .records import EXCLUDE

OBSERVER = Path(__file__).parent / "observer"
_OPTIONS = {"run": (), "legacy": ("--legacy",)}
_WIDTH = 200
_TOLD = 60
"""Lines of patchkit that are kept."""
_OURS = re.compile(r"patchkit(?: run)?: |PatchWarning: |LegacyWarning: ")
_BEFORE = re.compile(r".* - patchkit - +(?=patchkit: )")
"""What the log format of a framework puts before a line."""
_PLACES = re.compile(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)")
_NUMBERS = re.compile(r"process \d+|\bpid \d+")


def run(framework: Framework, training: Training, way: str, limit: float) -> Trial:
    """Start a training in a folder of its own.

    Args:
        framework: what trains.
        training: what it trains; its folder is replaced.
        way: `plain`, or how patchkit is loaded: `run`, `legacy`, or `EXCLUDE` with an id.
        limit: seconds that it may take.
    """
    with tempfile.TemporaryDirectory(prefix="frameworks-") as name:
        folder = Path(name)
        work, observed = folder / "work", folder / "observed"
        work.mkdir()
        observed.mkdir()
        command = framework.command(replace(training, folder=work))
        if way != "plain":
            command = [sys.executable, "-m", "patchkit", "run", *_options(way), "--", *command]
        started = time.monotonic()
        code, output = call(command, work, _environment(folder), limit, folder / "log")
        if kept := os.environ.get("FRAMEWORKS_KEEP_LOG"):
            Path(kept).write_text(output, encoding="utf-8")
        seconds = round(time.monotonic() - started, 1)
        logs = list(framework.logged(work, output)) if framework.logged else []
        trial = outcome(code, output, [*_events(observed), *logs], limit)
        places = (folder, training.model.parent, ROOT, sysconfig.get_path("purelib"))
    error = trial.error
    for place in places:
        error = error.replace(str(place), "…")
    return replace(trial, error=shorten(error, _WIDTH), seconds=seconds)


def _options(way: str) -> tuple[str, ...]:
    return ("--exclude", way.removeprefix(EXCLUDE)) if way.startswith(EXCLUDE) else _OPTIONS[way]


def outcome(code: int, output: str, events: Iterable[Mapping[str, Any]], limit: float) -> Trial:
    """Return what came of a command.

    Args:
        code: its exit code.
        output: what it wrote.
        events: what was observed of its training.
        limit: seconds that it might take.
    """
    course: dict[str, Any] = {"losses": [], "grad_norms": []}
    began = ended = False
    for event in events:
        began = began or "began" in event or "loss" in event
        if "loss" in event:
            course["losses"].append(event["loss"])
        if "grad_norm" in event:
            course["grad_norms"].append(event["grad_norm"])
        if "weights" in event:
            ended = True
            course |= {"dtypes": event["dtypes"], "weights": event["weights"]}
    told = told_by_patchkit(output)
    figures = {**course, **({"told": told} if told else {})}
    step = "end" if ended else "training" if began else "start"
    if code == OUT_OF_TIME:
        return Trial(step, f"took more than {limit:g} s", figures)
    if code:
        return Trial(step, last_error(output) or f"exit status {code}", figures)
    if not course["losses"]:
        # A framework may start its trainer, see it die, and go.
        return Trial(step, named_error(output) or "trained nothing, and said nothing", figures)
    return Trial(figures=figures)


def told_by_patchkit(output: str) -> list[str]:
    """Return each line that patchkit wrote, once, without what differs between two runs."""
    lines = (line.strip() for line in output.splitlines())
    lines = (_BEFORE.sub("", line) for line in lines)
    ours = (_NUMBERS.sub("", _PLACES.sub("", line)) for line in lines if _OURS.search(line))
    return [shorten(line, _WIDTH) for line in dict.fromkeys(ours)][:_TOLD]


def _events(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def _environment(folder: Path) -> dict[str, str]:
    """Return the variables of a command: no GPU, no hub, no settings of this user."""
    ours = ("PATCHKIT", "HF_", "TRANSFORMERS_", "ACCELERATE_", "WANDB_", "PYTHON", "TRL_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    programs = str(Path(sys.executable).parent)
    return {
        **env,
        "PATH": os.pathsep.join([programs, env.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(OBSERVER), str(ROOT)]),
        "FRAMEWORKS_OBSERVED": str(folder / "observed"),
        "HF_HOME": str(folder / "home"),
        "MODELSCOPE_CACHE": str(folder / "home"),
        "TMPDIR": str(folder),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "WANDB_MODE": "disabled",
        "AXOLOTL_DO_NOT_TRACK": "1",
        "DO_NOT_TRACK": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }
