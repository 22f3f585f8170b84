"""Train twice, each time in a fresh process that ends when the block that reads it does."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ... import children
from ..output import progress_bar

_TAIL = 2000
_PATIENCE = 5.0
"""Seconds that a process has to end on its own."""
Bar = Callable[[str, int], None]


def train_both(
    setup: Mapping[str, str], steps: int, folder: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train without patchkit, then with it.

    Returns:
        the outcomes: `ok`, `losses`, `dtypes`, and `error_type` and `error` of one that died.
    """
    arguments = [text for name, value in setup.items() for text in (f"--{name}", value)]
    arguments += ["--steps", str(steps), "--folder", str(folder)]
    with progress_bar() as move_bar:

        def bar(label: str, step: int) -> None:
            move_bar(label, step, steps)

        without = _train("without patchkit", arguments, folder, bar)
        return without, _train("with patchkit", [*arguments, "--patched"], folder, bar)


def _train(title: str, arguments: list[str], folder: Path, bar: Bar) -> dict[str, Any]:
    """Run a training; it prints a line per step, and the outcome last."""
    bar(f"{title}: loading the libraries", 0)
    losses: list[float] = []
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", dir=folder) as log,
        _process(arguments, log, {**os.environ, "TMPDIR": str(folder)}) as process,
    ):
        assert process.stdout is not None
        for answer in filter(None, map(children.parse_answer, process.stdout)):
            if "ok" in answer:
                return answer
            losses.append(answer["loss"])
            bar(f"{title}: step {answer['step']}, loss {answer['loss']:.3f}", answer["step"])
        status = process.wait()
        log.seek(0)
        return {
            "ok": False,
            "error_type": "SubprocessError",
            "error": f"the process died with status {status}:\n{log.read()[-_TAIL:]}",
            "losses": losses,
        }


@contextmanager
def _process(
    arguments: list[str], log: IO[str], env: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """Run a process; on Ctrl-C or an error it is ended before its folder is removed."""
    with _interrupts_that_wait() as interrupts:
        process = subprocess.Popen(
            children.command("patchkit.lab", *arguments),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            errors="replace",
            env=env,
        )
    with process:
        try:
            if interrupts:
                signal.raise_signal(signal.SIGINT)
            yield process
        except BaseException:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


@contextmanager
def _interrupts_that_wait() -> Iterator[list[int]]:
    """Note Ctrl-C within the block: within `Popen` it would leave a process that nobody knows."""
    interrupts: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, handler)
