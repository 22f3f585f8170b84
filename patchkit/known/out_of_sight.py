"""Notice errors that threads and children of `multiprocessing` die of.

Python prints them where they happen and goes on, so `sys.last_value` never has them. The traceback
of a thread is printed by the function that Python has for that, and then the error is handed over;
a hook of the program's own takes its place. A child of `multiprocessing` hands its error over after
it has printed it.
"""

from __future__ import annotations

import _thread
import os
import sys

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Died = Callable[[BaseException, bool], None]
    """Gets the error, and whether a child died of it, and not a thread."""

_SPAWNED = "--multiprocessing-fork"
"""What the command line of an interpreter has that `multiprocessing` starts as a child."""

_died: Died | None = None
_prints: Callable[[Any], None] | None = getattr(_thread, "_excepthook", None)
_is_watching_forks = False


def watch(died: Died) -> None:
    """Hand over the errors that threads of this process and children of it die of.

    Args:
        died: is called after the traceback was printed.
    """
    global _died, _is_watching_forks
    _died = died
    _set_hook(_of_thread)
    if not _is_watching_forks and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)
        _is_watching_forks = True
    if _SPAWNED in sys.orig_argv:
        import multiprocessing.process  # which this interpreter was started to import

        _watch_child(multiprocessing.process.BaseProcess)


def ignore() -> None:
    """Hand over nothing any more."""
    global _died
    _died = None
    if _prints is not None:
        _set_hook(_prints)


def _set_hook(hook: Callable[[Any], None]) -> None:
    """Let this print the errors of threads, unless the program has a hook of its own."""
    if _prints is None:
        return
    threading: Any = sys.modules.get("threading")
    if threading is None:  # It takes both of its names from there.
        _thread._excepthook = hook
    elif threading.excepthook in (_prints, _of_thread):
        threading.excepthook = hook


def _of_thread(given: Any) -> None:
    assert _prints is not None
    _prints(given)
    if _died is not None and given.exc_value is not None:
        _died(given.exc_value, False)


def _after_fork() -> None:
    module = sys.modules.get("multiprocessing.process")
    if _died is not None and module is not None:
        _watch_child(module.BaseProcess)


def _watch_child(cls: Any) -> None:
    """Hand over the error that the child dies of that this process is about to become."""
    begins = cls._bootstrap
    if getattr(begins, "__module__", "") == __name__:
        return  # a child of a child

    def begin(self: Any, *args: Any, **kwargs: Any) -> Any:
        errors: list[BaseException] = []
        runs = self.run

        def run() -> None:
            try:
                runs()
            except SystemExit:
                raise
            except BaseException as error:
                errors.append(error)
                raise

        self.run = run
        status = begins(self, *args, **kwargs)
        if errors and _died is not None:
            _died(errors[0], True)
        return status

    cls._bootstrap = begin
