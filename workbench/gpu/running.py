"""Run parts in processes of their own, each with a time limit, and keep whatever they measured."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any

from .. import ROOT
from .parts import Part, Row

PROGRAM = ROOT / "workbench"
"""Run like this, and not with -m, it has the patchkit of this checkout, in any folder."""
BESIDE = 8
"""Processors from which on both sides of a part run at once."""
OUT_OF_TIME = "out of time"
_LOG_LINES = 12
_FOLDERS = re.compile(r"[^\s\"'(]*[/\\](site-packages|unpacked)[/\\]")


@dataclass
class Side:
    """One side of a part.

    Args:
        name: "without" or "with".
        rows: the units that have a result, in the order of their end.
        not_run: the other units, and why.
        state: "done", "out of time" or "failed".
        log: the last lines that a process wrote that failed.
        extra: what the part reported beside its units.
    """

    name: str
    rows: dict[str, Row] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    state: str = "done"
    log: list[str] = field(default_factory=list)
    extra: Row = field(default_factory=dict)


def run(
    part: Part,
    seconds: float,
    units: Sequence[str],
    env: dict[str, str],
    tell: Callable[[str], None],
) -> Row:
    """Run a part within a time, and return all that is known of it.

    Args:
        part: the part.
        seconds: the time that it may take.
        units: globs; only units that fit one of them are measured.
        env: the variables of its processes.
        tell: called with a line for each result.
    """
    started = time.monotonic()
    sides = [Side(name) for name in part.sides]
    if not part.timed and (os.cpu_count() or 1) >= BESIDE:
        with ThreadPoolExecutor(len(sides)) as pool:
            for side in sides:
                pool.submit(_measure, part, side, started + seconds, units, env, tell)
    else:
        for at, side in enumerate(sides):
            left = started + seconds - time.monotonic()
            deadline = time.monotonic() + left / (len(sides) - at)
            _measure(part, side, deadline, units, env, tell)
    return {
        "title": part.title,
        "seconds": round(time.monotonic() - started, 1),
        "state": next((side.state for side in sides if side.state != "done"), "done"),
        "rows": [{"side": side.name, **row} for side in sides for row in side.rows.values()],
        "not_run": [
            {"side": side.name, "unit": unit, "reason": reason}
            for side in sides
            for unit, reason in side.not_run.items()
        ],
        "logs": {side.name: side.log for side in sides if side.log},
        **{key: value for side in sides for key, value in side.extra.items()},
    }


def without_folders(text: str) -> str:
    """Return a text without the folders of this machine that packages and this checkout lie in."""
    return _FOLDERS.sub("", text.replace(f"{ROOT}{os.sep}", ""))


def _measure(
    part: Part,
    side: Side,
    deadline: float,
    units: Sequence[str],
    env: dict[str, str],
    tell: Callable[[str], None],
) -> None:
    """Measure one side; a process that dies is followed by another for what it has left undone."""
    while True:
        before = len(side.rows)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            process = _Process(part.name, side, units, env, errors, tell)
            status = process.wait(deadline)
            errors.seek(0)
            log = without_folders(errors.read()).splitlines()[-_LOG_LINES:]
        # A process that died before it listed its units counts as one unit.
        left = [unit for unit in process.units or ["everything"] if unit not in side.rows]
        if not left:
            return
        if status is None:
            side.state = OUT_OF_TIME
            side.not_run = dict.fromkeys(left, OUT_OF_TIME)
            return
        side.state, side.log = "failed", log
        reason = f"the process ended with status {status}"
        if process.begun in left:
            left.remove(process.begun)
            row = {"unit": process.begun, "outcome": "died", "error": reason}
            side.rows[process.begun] = row
        if not left or len(side.rows) == before:
            side.not_run = dict.fromkeys(left, reason)
            return


class _Process:
    """One process of a part, and its answers."""

    def __init__(
        self,
        part: str,
        side: Side,
        units: Sequence[str],
        env: dict[str, str],
        errors: IO[str],
        tell: Callable[[str], None],
    ) -> None:
        self.units: list[str] = []
        self.begun = ""
        self._part, self._side, self._tell = part, side, tell
        work = json.dumps({"only": list(units), "done": list(side.rows)})
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "gpu", "--measure", part, side.name, work],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=env,
            start_new_session=True,  # so that it ends with all that it starts
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self, deadline: float) -> int | None:
        """Return the exit status; None if the time was up, and the process was ended."""
        status: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(max(0, deadline - time.monotonic()))
        # Also if it ended on its own: processes that it started may still run.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(5)
        return status

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._take(json.loads(line))

    def _take(self, answer: dict[str, Any]) -> None:
        if "units" in answer:
            self.units = answer["units"]
        elif "begin" in answer:
            self.begun = answer["begin"]
        elif "unit" in answer:
            if "error" in answer:
                answer["error"] = without_folders(answer["error"])
            self._side.rows[answer["unit"]] = answer
            said = (
                f"{answer['outcome']}: {answer['error']}"
                if "error" in answer
                else answer["outcome"]
            )
            self._tell(f"{self._part}, {self._side.name}: {answer['unit']}: {said}")
        else:
            self._side.extra.update(answer)
