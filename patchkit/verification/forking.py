"""Call functions, such as reproducers, in forks of one process that has imported the libraries.

An import takes seconds and most reproducers less than one, so this is many times faster than
separate processes. The patches are then applied to libraries that are loaded already.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent import futures
from typing import Any

from ..catalogue.folders import VARIABLE
from ..children import command, parse_answer, write_answer
from ..errors import UsageError

_END_TIMEOUT = 5
"""Seconds that the process and its forks have to end on their own."""


class ForkRunner:
    """Run reproducers, from any thread.

    Raises:
        UsageError: this platform does not fork.
    """

    def __init__(self, timeout: float, patches: str) -> None:
        if not hasattr(os, "fork"):
            raise UsageError(f"processes cannot be forked on {sys.platform}; leave out `fork`")
        self._timeout = timeout
        self._patches = patches
        self._stopped = False

    def __call__(self, patch_id: str, patched: bool) -> dict[str, Any]:
        """Return what `patchkit.verification.reproduce.outcome` says in a fork."""
        with _LOCK:
            if self._stopped:
                return {"outcome": "error", "message": "stopped"}
            server = _running_server()
        return server.call(
            "patchkit.verification.reproduce:outcome",
            {"patch_id": patch_id, "patched": patched},
            timeout=self._timeout,
            environment={VARIABLE: self._patches},
        )

    def stop(self) -> None:
        """End the running reproducers, and start no more."""
        with _LOCK:
            self._stopped = True
            _stop_server()


class ForkServer:
    """A process that has imported the libraries, and calls functions in forks, from any thread.

    Args:
        preparation: functions such as `package.module:function`, called before the first fork; by
            default those libraries are imported that most reproducers need.
        environment: variables of the process, in addition to those of this one.
        folder: comes last on its path, for a package that has functions to call.
        quiet: whether nothing that it prints is shown.
    """

    def __init__(
        self,
        *preparation: str,
        environment: Mapping[str, str] | None = None,
        folder: str = "",
        quiet: bool = False,
    ) -> None:
        self._process = subprocess.Popen(
            command("patchkit.verification.fork_server", *preparation, folder=folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # Ctrl-C in a terminal must not reach it
        )
        self._numbers = itertools.count()
        self._waiting: dict[int, futures.Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self.ended = False
        threading.Thread(target=self._listen, daemon=True).start()

    def call(
        self,
        function: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float,
        environment: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return what a function returns in a fork.

        Args:
            function: such as `package.module:function`.
            arguments: its keyword arguments.
            timeout: seconds that it may take.
            environment: variables of the fork, in addition to those of the process.

        Returns:
            the dictionary that it returned; `{"outcome": "error", "message": …}` if the fork died
            or took too long.
        """
        outcome: futures.Future[dict[str, Any]] = futures.Future()
        with self._lock:
            if self.ended:
                return self._death()
            number = next(self._numbers)
            self._waiting[number] = outcome
            self._send(
                number=number, function=function, arguments=arguments, environment=environment or {}
            )
        try:
            return outcome.result(timeout)
        except futures.TimeoutError:
            with self._lock:
                self._waiting.pop(number, None)
                self._send(end=number)
            return {"outcome": "error", "message": f"took more than {timeout:g} s"}

    def stop(self) -> None:
        """End the process and its forks."""
        with self._lock, contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:  # it is in the middle of an import
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _send(self, **request: Any) -> None:
        assert self._process.stdin is not None
        # If it has ended, `_listen` gives every waiting call its error.
        with contextlib.suppress(OSError, ValueError):
            write_answer(self._process.stdin, request)  # type: ignore[arg-type]

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for answer in filter(None, map(parse_answer, lines)):
                with self._lock:
                    outcome = self._waiting.pop(answer["number"], None)
                if outcome is not None:
                    outcome.set_result(answer["outcome"])
        self._process.wait()
        with self._lock:
            self.ended = True
            for outcome in self._waiting.values():
                outcome.set_result(self._death())
            self._waiting.clear()

    def _death(self) -> dict[str, Any]:
        status = self._process.returncode
        return {"outcome": "error", "message": f"the fork server died with exit code {status}"}


_LOCK = threading.Lock()
_server: ForkServer | None = None


def _running_server() -> ForkServer:
    """Return the one process that serves all, until it is stopped or dies."""
    global _server
    if _server is None or _server.ended:
        _server = ForkServer()
    return _server


@atexit.register
def _stop_server() -> None:
    global _server
    if _server is not None:
        _server.stop()
        _server = None
