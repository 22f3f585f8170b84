"""Two processes that have imported the libraries, one with patchkit, whose forks try cells."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from patchkit.errors import PatchError
from patchkit.verification.forking import ForkServer

from .. import ROOT

_PATIENCE = 600
"""Seconds for the import of the libraries."""


class SweepError(PatchError):
    """The libraries cannot be imported, or the process that has imported them was ended."""


class Processes:
    """The two processes of a sweep, each begun when something is first asked of it.

    Args:
        folder: for temporary files.
        serving: the full name of the module that imports the libraries: it has
            `import_libraries` and `import_libraries_and_apply`.
        preparations: functions that both processes call before.
        environment: further variables of both.
    """

    def __init__(
        self,
        folder: Path,
        serving: str,
        preparations: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        variables = {
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",  # some errors list a set
            "TMPDIR": str(folder),
            # A patch that is switched off, or a setting, would be judged in place of patchkit.
            "PATCHKIT_DISABLE": "",
        }
        self._variables = {**variables, **(environment or {})}
        self._serving = serving
        self._preparations = preparations
        self._servers: dict[bool, ForkServer] = {}
        self._lock = threading.Lock()

    def server(self, patched: bool) -> ForkServer:
        """Return one of the processes."""
        with self._lock:
            if patched not in self._servers:
                self._servers[patched] = ForkServer(
                    *self._preparations,
                    f"{self._serving}:import_libraries{'_and_apply' if patched else ''}",
                    environment=self._variables,
                    folder=str(ROOT),
                    quiet=True,
                )
            return self._servers[patched]

    def ask(self, function: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what a function returns where patchkit is not applied.

        Raises:
            SweepError: the libraries cannot be imported.
        """
        answer = self.server(False).call(function, arguments or {}, timeout=_PATIENCE)
        if "outcome" in answer:
            raise SweepError(f"cannot import the libraries: {answer['message']}")
        return answer

    def stop(self) -> None:
        """End all processes."""
        with self._lock:
            servers = list(self._servers.values())
        for server in servers:
            server.stop()
