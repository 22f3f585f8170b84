"""Two processes that have imported the libraries, one with patchkit, whose forks try cells."""

from __future__ import annotations

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
    """The two processes of a sweep.

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
        self.servers = {
            patched: ForkServer(
                *preparations,
                f"{serving}:import_libraries{'_and_apply' if patched else ''}",
                environment={**variables, **(environment or {})},
                folder=str(ROOT),
                quiet=True,
            )
            for patched in (False, True)
        }

    def ask(self, function: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what a function returns where patchkit is not applied.

        Raises:
            SweepError: the libraries cannot be imported.
        """
        answer = self.servers[False].call(function, arguments or {}, timeout=_PATIENCE)
        if "outcome" in answer:
            raise SweepError(f"cannot import the libraries: {answer['message']}")
        return answer

    def stop(self) -> None:
        """End all processes."""
        for server in self.servers.values():
            server.stop()
