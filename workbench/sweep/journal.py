"""Keep trials in a file, a line of JSON each, so that an interrupted sweep continues."""

from __future__ import annotations

import datetime
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic

from patchkit.errors import UsageError

from .trial import Trial
from .verdicts import C


class SweepJournal(Generic[C]):
    """The trials of cells, in memory and in a file.

    Besides what is declared here, a class says:
        schema: names the form that the results have.
        cell: makes a cell of what its JSON has.

    Args:
        path: the file; None keeps them in memory only.

    Raises:
        UsageError: the file holds something else.
    """

    schema: ClassVar[int | str]
    cell: ClassVar[Callable[..., Any]]

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.trials: dict[tuple[C, bool], Trial] = {}
        #: Versions, Python, platform and date; empty before the first result.
        self.environment: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._torn = False
        if path is not None and path.exists():
            self._read(path)

    def begin(self, environment: Mapping[str, Any]) -> None:
        """Record which environment the following results come from.

        Raises:
            UsageError: those that are there come from another, or nothing can be written.
        """
        if not self.environment:
            today = datetime.date.today().isoformat()
            self._add({"schema": self.schema, "environment": {**environment, "date": today}})
            return
        for name, value in environment.items():
            if self.environment.get(name) != value:
                raise UsageError(
                    f"{self.path} has results of other versions ({name}); name another file"
                )

    def add(self, cell: C, patched: bool, trial: Trial) -> None:
        content = asdict(cell)  # type: ignore[call-overload]
        self._add({"cell": content, "patchkit": patched, "trial": asdict(trial)})

    def has(self, cell: C) -> bool:
        """Tell whether a cell was tried on both sides."""
        return (cell, False) in self.trials and (cell, True) in self.trials

    def cells(self) -> Iterator[C]:
        """Yield the cells that were tried on both sides."""
        for cell, patched in self.trials:
            if not patched and self.has(cell):
                yield cell

    def _take_in_result(self, record: dict[str, Any]) -> None:
        """Keep a result in memory.

        Raises:
            KeyError, TypeError: the record is not a result.
        """
        cell = self.cell(**record["cell"])
        self.trials[cell, record["patchkit"]] = Trial(**record["trial"])

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
        self._torn = bool(last)  # an interrupted write; its cell is tried again
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                self._take_in(json.loads(line))
            except (ValueError, KeyError, TypeError):
                if number == 1 or line.startswith('{"schema"'):
                    raise UsageError(f"{path} holds something else than results") from None

    def _take_in(self, record: dict[str, Any]) -> None:
        if "environment" not in record:
            self._take_in_result(record)
            return
        if record["schema"] != self.schema:
            raise UsageError(f"{self.path} was written by another version of patchkit")
        self.environment = record["environment"]
