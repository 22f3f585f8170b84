"""Answer the error that a program dies of, without being asked.

`sys.excepthook` is not replaced. Python keeps the error in `sys.last_value`, whoever prints it, and
then calls what `atexit` has. So every such hook works as it did, and the answer comes last on the
screen. `out_of_sight` notices the errors of threads and children. A signal leaves no time for an
answer: Python then names the line of the crash, and a launcher that tells of the signal answers.
"""

from __future__ import annotations

import atexit
import os
import sys

from . import out_of_sight

TYPE_CHECKING = False  # this is imported in each interpreter of a command
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

VARIABLE = "PATCHKIT_EXPLAIN"
_WIDTH = 80
_LONGEST_MESSAGE = 120
_MOST_LINES = 3
"""Of the cause, and of the remedy."""
_RUNNERS = ("__main__", "runpy")
"""Modules in which a program begins."""
_SCRIPTS = ("<string>", "<stdin>", "<frozen runpy>")
_RANKS = ("LOCAL_RANK", "RANK")
_KILLED = r"\bSIG(?:KILL|SEGV|BUS|ABRT|ILL|FPE)\b"
"""What a launcher says of a process that could not answer."""
_ROOT = "Root Cause"
"""What torchrun says of the rank that failed first, which others follow."""
_MARKS = ("", "thread", "child")
"""Whose error it was: a rank's own, a thread's of one, a child's of `multiprocessing`."""

_watched_since = 0.0
_insists = False
_answered: set[str] = set()
"""Of the errors of threads, the types and messages that were answered in this process."""
_names_crashes = False
_last_shown = 0
"""The identity of the error that a notebook showed before the cell that runs."""


def watch(*, insist: bool = False) -> None:
    """Answer the error that this process dies of, and errors in the cells of IPython.

    Args:
        insist: whether to do so whatever the variable says.
    """
    global _watched_since, _insists
    import time

    _watched_since = _watched_since or time.time()
    _insists = insist
    atexit.unregister(_at_exit)
    atexit.register(_at_exit)
    out_of_sight.watch(_out_of_sight)
    if insist or not is_switched_off():
        _name_crashes()
    if shell := _shell():
        watch_cells(shell)


def _name_crashes() -> None:
    """Let Python print the line at which a signal kills this process, which dies of it as before.

    On Windows it would print errors, too, that the program handles.
    """
    global _names_crashes
    import faulthandler

    if os.name == "nt" or faulthandler.is_enabled():
        return
    try:
        faulthandler.enable(all_threads=False)
        _names_crashes = True
    except (AttributeError, OSError, RuntimeError, ValueError):
        """Standard error is closed, or no file."""


def ignore() -> None:
    """Answer nothing any more without being asked."""
    global _names_crashes
    atexit.unregister(_at_exit)
    if _names_crashes:
        import faulthandler

        faulthandler.disable()
        _names_crashes = False
    out_of_sight.ignore()
    if shell := _shell():
        ignore_cells(shell)


def watch_cells(shell: Any) -> None:
    """Answer errors in the cells of an IPython.

    Args:
        shell: its `InteractiveShell`.
    """
    shell.events.register("pre_run_cell", _before_cell)
    shell.events.register("post_run_cell", _after_cell)
    _before_cell()


def ignore_cells(shell: Any) -> None:
    """Answer no error in the cells of an IPython any more; that none was answered is no error."""
    for event, function in (("pre_run_cell", _before_cell), ("post_run_cell", _after_cell)):
        if function in shell.events.callbacks[event]:
            shell.events.unregister(event, function)


def is_switched_off() -> bool:
    """Tell whether the variable switches off answers without being asked."""
    written = os.environ.get(VARIABLE)
    if not written:
        return False
    from ..settings import yes_or_no

    return yes_or_no(written) is False


def answer_lines(error: BaseException) -> list[str]:
    """Return the few lines that answer an error; none if it is unknown, or speaks for itself.

    Nothing is imported but the standard library and patchkit.

    Args:
        error: with its traceback.
    """
    if not isinstance(error, Exception) or type(error).__module__.partition(".")[0] == "patchkit":
        return []
    import re
    import traceback

    from ..environment import installed_version
    from .answering import answered
    from .fitting import fitted
    from .reading import read

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-200))
    pasted = read(text)
    found = answered(pasted, installed_version)
    if not found.answers or found.is_part:
        return []
    if found.error.is_launchers and not re.search(_KILLED, text.rpartition(_ROOT)[2]):
        return []  # The process has answered.
    found = fitted(found, pasted, installed_version)
    first = found.answers[0]
    about = "" if found.error == pasted.error else f"of the earlier {found.error.name}: "
    lines = _wrapped("patchkit: ", about + first.cause)
    lines += _wrapped("  do: ", first.do)
    lines += [f"      {line}" for line in first.write[:1]]
    return [*lines, *_where_more_is(found.error.message, len(found.answers) - 1)]


def _where_more_is(message: str, others: int) -> Iterator[str]:
    causes = "another possible cause" if others == 1 else f"{others} other possible causes"
    line = f"  more{f', and {causes}' if others else ''}: patchkit explain "
    # One that shells read as it is written.
    quote = next((quote for quote in "\"'" if quote not in message), "")
    if quote and 0 < len(message) <= _LONGEST_MESSAGE and not set(message).intersection("$`\\!"):
        yield f"{line}{quote}{message}{quote}"
    else:
        yield f"{line}LOG (or - and paste the traceback)"


def _wrapped(label: str, text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=label,
        subsequent_indent=" " * 6,
        max_lines=_MOST_LINES,
        placeholder=" …",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _at_exit() -> None:
    try:
        error = _fatal_error()
        # Where Ctrl-C ends the process, an import may make Python forget its exit status.
        if isinstance(error, Exception) and (_insists or not is_switched_off()):
            lines = answer_lines(error)
            if lines and str(error) not in _answered and _is_first_of_ranks():
                _print(lines)
        for whose in _MARKS:
            _remove(_mark(os.getpid(), whose))  # those that this process started have ended
    except Exception:
        """The program has died of its own error, and that one was printed."""


def _out_of_sight(error: BaseException, is_child: bool) -> None:
    """Answer an error that a thread or a child of this process has died of, once."""
    try:
        if str(error) in _answered or not (_insists or not is_switched_off()):
            return
        lines = answer_lines(error)
        if not lines or not (_is_first("child") if is_child else _is_first_of_ranks("thread")):
            return
        _answered.add(str(error))
        _print(lines)
    except Exception:
        """The traceback was printed."""


def _fatal_error() -> BaseException | None:
    """Return the error that nobody caught; None for those of a prompt, which live on."""
    error = getattr(sys, "last_value", None)
    if error is None or error.__traceback__ is None:
        return None
    frame = error.__traceback__.tb_frame
    file = frame.f_code.co_filename
    if frame.f_globals.get("__name__") not in _RUNNERS:
        return None
    if file.startswith("<") and file not in _SCRIPTS:
        return None
    return None if file == "<stdin>" and hasattr(sys, "ps1") else error


def _print(lines: Sequence[str]) -> None:
    if sys.stderr is not None:
        print("\n".join(lines), file=sys.stderr, flush=True)


def _is_first_of_ranks(whose: str = "") -> bool:
    """Tell whether no other rank of this node has said it; leave a mark for them, if so."""
    rank = next((rank for name in _RANKS if (rank := os.environ.get(name))), "")
    if not rank or os.environ.get("WORLD_SIZE") == "1":
        return True
    return _is_first(whose, or_else=rank == "0")


def _is_first(whose: str, *, or_else: bool = True) -> bool:
    """Tell whether no other child of this process's parent has said it; leave a mark, if so.

    Args:
        whose: one of the marks.
        or_else: the answer where no file can be written.
    """
    mark = _mark(os.getppid(), whose)
    try:
        if os.stat(mark).st_mtime < _watched_since:
            os.unlink(mark)  # of other ranks, whose launcher was killed
    except OSError:
        """There is none."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return or_else
    return True


def _mark(launcher: int, whose: str) -> str:
    """Return the name of the empty file that the first to die leaves for the others.

    Args:
        launcher: the process that started them, and removes the file as it ends.
        whose: one of the marks.
    """
    # `tempfile` would be imported as each interpreter ends.
    folder = next(
        (found for name in ("TMPDIR", "TEMP", "TMP") if (found := os.environ.get(name))), "/tmp"
    )
    user = os.getuid() if hasattr(os, "getuid") else "0"
    return os.path.join(folder, f"patchkit-died-{user}-{launcher}{whose}")


def _remove(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        """It is not there."""


def _shell() -> Any:
    """Return the IPython in which this process runs; None without one."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def _before_cell(info: object = None) -> None:
    global _last_shown
    _last_shown = id(getattr(sys, "last_value", None))


def _after_cell(result: object = None) -> None:
    """Answer the error that IPython has shown in this cell, in whichever way it was run."""
    try:
        error = getattr(sys, "last_value", None)
        if error is None or id(error) == _last_shown:
            return
        if _insists or not is_switched_off():
            _print(answer_lines(error))
    except Exception:
        """The traceback was shown."""
