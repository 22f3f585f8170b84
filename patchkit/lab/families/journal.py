"""Keep results in a file, a line of JSON each, so that an interrupted sweep continues."""

from __future__ import annotations

import datetime
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...errors import UsageError
from .records import Build, Cell, Subject, Trial

SCHEMA = 1


class Journal:
    """Results, in memory and in a file.

    Args:
        path: the file; None keeps them in memory only.

    Raises:
        UsageError: the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        #: Versions, Python, platform and date; empty before the first result.
        self.environment: dict[str, Any] = {}
        self.builds: dict[Subject, Build] = {}
        self.trials: dict[tuple[Cell, bool], Trial] = {}
        self._lock = threading.Lock()
        self._torn = False
        if path is not None and path.exists():
            self._read(path)

    def begin(self, environment: Mapping[str, Any]) -> None:
        """Say which environment the results that follow come from.

        Raises:
            UsageError: those that are there come from another, or nothing can be written.
        """
        if not self.environment:
            today = datetime.date.today().isoformat()
            self._add({"schema": SCHEMA, "environment": {**environment, "date": today}})
            return
        for name, value in environment.items():
            if self.environment.get(name) != value:
                raise UsageError(
                    f"{self.path} has results of other versions ({name}); name another file"
                )

    def join(self, other: Journal) -> None:
        """Take in what another journal has, in memory only.

        Raises:
            UsageError: its results come from other versions.
        """
        for name, value in other.environment.items():
            if name != "date" and self.environment.get(name, value) != value:
                raise UsageError(f"{other.path} has results of other versions ({name})")
        self.environment = {**self.environment, **other.environment}
        self.builds |= other.builds
        self.trials |= other.trials

    def add_build(self, build: Build) -> None:
        self._add({"build": asdict(build)})

    def add_trial(self, cell: Cell, patched: bool, trial: Trial) -> None:
        self._add({"cell": asdict(cell), "patchkit": patched, "trial": asdict(trial)})

    def has(self, cell: Cell) -> bool:
        """Tell whether a cell was tried on both sides."""
        return (cell, False) in self.trials and (cell, True) in self.trials

    def cells(self) -> Iterator[Cell]:
        """Yield the cells that were tried on both sides."""
        for cell, patched in self.trials:
            if not patched and self.has(cell):
                yield cell

    def _add(self, record: dict[str, Any]) -> None:
        with self._lock:
            self._take_in(record)
            if self.path is not None:
                text = ("\n" if self._torn else "") + json.dumps(record) + "\n"
                self._torn = False
                self._append(self.path, text.encode())

    @staticmethod
    def _append(path: Path, line: bytes) -> None:
        """Append a line in one piece."""
        try:
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def _read(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {path}: {error}") from error
        *lines, last = text.split("\n")
        self._torn = bool(last)  # a write that was cut off; what it held is tried again
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                self._take_in(json.loads(line))
            except (ValueError, KeyError, TypeError):
                if number == 1 or line.startswith('{"schema"'):
                    raise UsageError(f"{path} holds something else than results") from None

    def _take_in(self, record: dict[str, Any]) -> None:
        if "environment" in record:
            if record["schema"] != SCHEMA:
                raise UsageError(f"{self.path} was written by another version of patchkit")
            self.environment = record["environment"]
        elif "build" in record:
            content = record["build"]
            build = Build(**{**content, "subject": Subject(**content["subject"])})
            self.builds[build.subject] = build
        else:
            content = record["cell"]
            cell = Cell(Subject(**content["subject"]), content["mode"], content["method"])
            self.trials[cell, record["patchkit"]] = Trial(**record["trial"])
