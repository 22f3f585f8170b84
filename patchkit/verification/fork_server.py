"""Import the libraries, then make each requested call in a fork.

`python -m patchkit.verification.fork_server [FUNCTION …]` calls the functions, such as
`package.module:function`, which import the libraries and whatever else all forks share. Then it
reads requests from standard input, each a line of JSON:
`{"number": 7, "function": …, "arguments": {…}, "environment": {…}}` starts a fork that sets the
variables and calls the function, and `{"end": 7}` ends it. The function returns a dictionary, and
the answer is `{"number": 7, "outcome": …}`. The server and its forks end when the input does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from .. import children

PRELOADED = (
    "accelerate",
    "bitsandbytes",
    "datasets",
    "patchkit.engine.armed",
    "patchkit.engine.listener",
    "patchkit.engine.recording",
    "peft",
    "peft.utils.transformers_weight_conversion",
    "transformers.integrations.bitsandbytes",
    "transformers.models.llama.modeling_llama",
    "transformers.trainer",
    "trl.trainer.reward_trainer",
    "trl.trainer.sft_trainer",
)
_CHUNK = 1 << 16


@dataclass
class _Fork:
    """A running fork: its number, its process, and its output so far."""

    number: int
    process: int
    output: bytes = b""


class _Server:
    """Start and end forks, and pass on their outcomes, without threads."""

    def __init__(self, requests: int, output: BinaryIO) -> None:
        self._requests = requests
        self._output = output
        self._unread = b""
        self._forks: dict[int, _Fork] = {}  # by the descriptor that each writes to
        self._ready = selectors.DefaultSelector()
        self._ready.register(requests, selectors.EVENT_READ)

    def serve(self) -> None:
        while True:
            for key, _ in self._ready.select():
                if key.fd != self._requests:
                    self._read_outcome(key.fd)
                elif not self._read_requests():
                    return

    def end_all(self) -> None:
        for descriptor in tuple(self._forks):
            self._reap(descriptor)

    def _read_requests(self) -> bool:
        """Carry out the requests that arrived; return whether more may come."""
        chunk = os.read(self._requests, _CHUNK)
        *lines, self._unread = (self._unread + chunk).split(b"\n")
        for request in map(json.loads, lines):
            if "end" in request:
                for descriptor, fork in tuple(self._forks.items()):
                    if fork.number == request["end"]:
                        self._reap(descriptor)
            else:
                self._start_fork(request)
        return bool(chunk)

    def _start_fork(self, request: dict[str, Any]) -> None:
        ours, theirs = os.pipe()
        process = os.fork()
        if not process:
            self._run_in_fork(request, theirs)
        os.close(theirs)
        self._forks[ours] = _Fork(request["number"], process)
        self._ready.register(ours, selectors.EVENT_READ)

    def _run_in_fork(self, request: dict[str, Any], pipe: int) -> None:
        """Make a call in a fork, which ends here."""
        status = 1
        try:
            os.close(self._requests)
            os.close(self._output.fileno())
            nowhere = os.open(os.devnull, os.O_RDWR)
            for standard in range(3):
                os.dup2(nowhere, standard)
            os.environ.update(request["environment"])  # may be newer than this process
            outcome = _function(request["function"])(**request["arguments"])
            with os.fdopen(pipe, "wb") as answer:
                children.write_answer(answer, outcome)
            status = 0
        finally:
            os._exit(status)

    def _read_outcome(self, descriptor: int) -> None:
        fork = self._forks[descriptor]
        chunk = os.read(descriptor, _CHUNK)
        fork.output += chunk
        if chunk and not fork.output.endswith(b"\n"):
            return
        # A pipe that closes without an answer belongs to a process that is ending on its own.
        status = self._reap(descriptor, kill=bool(chunk))
        died = {"outcome": "error", "message": f"died with exit code {status}"}
        answer = {"number": fork.number, "outcome": children.parse_answer(fork.output) or died}
        children.write_answer(self._output, answer)

    def _reap(self, descriptor: int, *, kill: bool = True) -> int:
        """Wait for a fork, and return its exit code."""
        self._ready.unregister(descriptor)
        os.close(descriptor)
        process = self._forks.pop(descriptor).process
        if kill:
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status)


def import_libraries() -> None:
    """Import the libraries and the patches that most reproducers need."""
    from ..catalogue.definitions import shipped_definitions

    for name in PRELOADED:
        with contextlib.suppress(Exception):  # the reproducer that needs it will say so
            importlib.import_module(name)
    compile_conversions()
    for definition in shipped_definitions():
        with contextlib.suppress(Exception):
            definition.fetch()


def compile_conversions() -> None:
    """Compile the thousand patterns that a process needs for the first model it saves or loads."""
    with contextlib.suppress(Exception):  # older releases have none
        mapping = importlib.import_module("transformers.conversion_mapping")
        mapping.get_checkpoint_conversion_mapping("")


def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function


def main() -> None:
    output = children.take_standard_output()
    requests = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for prepare in [_function(name) for name in sys.argv[1:]] or [import_libraries]:
        prepare()
    # A garbage collection in a fork would walk and copy all that the libraries have made.
    gc.collect()
    gc.freeze()
    server = _Server(requests, output)
    status = 1
    try:
        server.serve()
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        server.end_all()
        os._exit(status)  # the exit handlers of libraries take time


if __name__ == "__main__":
    main()
