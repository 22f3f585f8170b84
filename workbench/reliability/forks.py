"""Run work in forks of this process, with a watchdog."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from patchkit import children

from .. import ROOT

warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)


def command(tool: str, *arguments: str, flags: Sequence[str] = ()) -> list[str]:
    """Return the command line that runs a tool in another interpreter, with this patchkit.

    Args:
        tool: the full name of its module.
        arguments: its arguments.
        flags: those of the interpreter.
    """
    python, *rest = children.command(
        "workbench", "reliability", tool.rpartition(".")[2], *arguments, folder=str(ROOT)
    )
    return [python, *flags, *rest]


class ForkFailed(RuntimeError):
    """A fork hung, died, or its work raised; the message says which."""


class Fork:
    """One fork of this process that does some work.

    Args:
        work: what it does; its answer is pickled.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self._read)
                view = memoryview(_answer(work))
                while view:
                    view = view[os.write(write, view) :]
                sys.stdout.flush()
                sys.stderr.flush()
                status = 0
            finally:
                os._exit(status)
        os.close(write)

    def result(self, timeout: float) -> Any:
        """Return what the work returned.

        Raises:
            ForkFailed: it did not return within `timeout` seconds, or not at all.
        """
        chunks: list[bytes] = []
        deadline = time.monotonic() + timeout
        try:
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self._read], [], [], left)[0]:
                    raise ForkFailed(f"hung for {timeout:g} seconds")
                chunk = os.read(self._read, 1 << 16)
                if not chunk:
                    break
                chunks.append(chunk)
        finally:
            os.close(self._read)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        if not chunks:
            raise ForkFailed(f"died, wait status {status}")
        kind, answer = pickle.loads(b"".join(chunks))
        if kind == "raised":
            raise ForkFailed(f"raised\n{answer}")
        return answer


def in_fork(work: Callable[[], Any], timeout: float = 60) -> Any:
    """Do some work in a fork, and return what it returned.

    Raises:
        ForkFailed: it did not return within `timeout` seconds, or not at all.
    """
    return Fork(work).result(timeout)


def _answer(work: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps(("returned", work()))
    except BaseException:
        return pickle.dumps(("raised", traceback.format_exc()[-4000:]))


def each_in_fork(
    works: Iterable[Callable[[], Any]], jobs: int, timeout: float = 60
) -> Iterator[Any]:
    """Do many works in forks, some at a time; yield their answers in order, or what failed."""
    running: deque[Fork] = deque()

    def next_answer() -> Any:
        try:
            return running.popleft().result(timeout)
        except ForkFailed as failure:
            return failure

    for work in works:
        running.append(Fork(work))
        if len(running) >= jobs:
            yield next_answer()
    while running:
        yield next_answer()
