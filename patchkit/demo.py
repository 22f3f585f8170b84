"""`patchkit demo`: a real training of a tiny model, without patchkit and then with it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from .environment import installed_version
from .errors import PatchError

NEEDED = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")
_TAIL = 2000


class DemoError(PatchError):
    """The demo cannot be run here."""


def run(*, trainer: str, steps: int, precision: str, quantization: str, as_json: bool) -> int:
    """Train twice and print what came of it.

    Args:
        trainer: such as `sft`; see `patchkit.lab.trainers`.
        steps: optimizer steps of each training.
        precision: `fp16`, `bf16` or `fp32`.
        quantization: `4bit`, `8bit` or `none`.
        as_json: print one JSON object and nothing else.

    Returns:
        the exit status: 0 if the training with patchkit went through, 1 if not.

    Raises:
        DemoError: the training libraries are missing.
    """
    missing = [name for name in NEEDED if installed_version(name) is None]
    if missing:
        raise DemoError(
            f"the demo trains for real and needs {', '.join(missing)}: "
            "pip install 'patchkit[train]'"
        )
    arguments = ["--trainer", trainer, "--precision", precision, "--quantization", quantization]
    arguments += ["--steps", str(steps)]
    say: Callable[[str], None] = (lambda text: None) if as_json else click.echo
    say(
        f"{steps} steps of {trainer.upper()} on a tiny Llama: {precision}, "
        f"base weights {quantization}, LoRA adapters, TRL {installed_version('trl')}\n"
    )
    with tempfile.TemporaryDirectory() as folder, _progress(steps) as bar:
        arguments += ["--folder", folder]
        without = _train("without patchkit", arguments, bar)
        mended = _train("with patchkit", [*arguments, "--patched"], bar)
    if as_json:
        click.echo(json.dumps({"schema": 1, "without": without, "with": mended}, indent=2))
    else:
        say(f"without patchkit:\n{_told(without)}\n")
        say(f"with patchkit:\n{_told(mended)}\n")
        say(_where(mended, precision))
        say(str(mended.get("report_text", "")))
    return 0 if mended["ok"] else 1


def _train(title: str, arguments: list[str], bar: Callable[[str, int], None]) -> dict[str, Any]:
    """Train in a fresh process; its steps come line by line, and the outcome last."""
    bar(f"{title}: loading the libraries", 0)
    command = [sys.executable, "-m", "patchkit.lab", "--json", *arguments]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        outcome: dict[str, Any] = {}
        for line in process.stdout:
            outcome = json.loads(line)
            if "step" in outcome:
                bar(f"{title}: step {outcome['step']}, loss {outcome['loss']:.3f}", outcome["step"])
        process.wait()
        log.seek(0)
        if "ok" not in outcome:
            error = f"the process died with status {process.returncode}:\n{log.read()[-_TAIL:]}"
            return {"ok": False, "error_type": "SubprocessError", "error": error}
    return outcome


def _told(outcome: dict[str, Any]) -> str:
    if not outcome["ok"]:
        return f"  {outcome['error_type']}: {outcome['error']}"
    dtypes = ", ".join(f"{number} {name}" for name, number in outcome["trainable_dtypes"].items())
    losses = " ".join(f"{loss:.3f}" for loss in outcome["losses"])
    changed = f"{outcome['changed']} of them changed"
    text = f"  trained; trainable tensors: {dtypes}, {changed}\n  loss by step: {losses}"
    if outcome["trainer"] in ("grpo", "rloo"):
        text += "\n  (about 0 by construction: the advantages of a group sum to 0)"
    return text


def _where(outcome: dict[str, Any], precision: str) -> str:
    device = outcome.get("device", "cpu")
    if precision == "fp16" and device == "cpu":
        return (
            "On this CPU the training took CUDA's fp16 path: float16 autocast, a GradScaler, and\n"
            "the refusal of bfloat16 gradients that CUDA's unscale kernel has.\n"
        )
    return f"Trained on {device}.\n"


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[str, int], None]]:
    """A bar on standard error, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=steps)

        def show(description: str, step: int) -> None:
            progress.update(task, description=description, completed=step)

        yield show
