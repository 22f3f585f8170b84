"""A call of `apply` that raises leaves nothing applied, wherever the exception comes from."""

from __future__ import annotations

import logging
import warnings

import pytest

from patchkit import PatchWarning
from patchkit.engine import session as engine
from patchkit.engine.choices import Choices
from patchkit.engine.trouble import Warnings
from patchkit.patch import Rewrite, Status
from patchkit.reporting.report import Report

from ..madeup_bug import BUG, SOURCE, patch

LATE = {
    "the report is made": (engine.Session, "_deferred_report"),
    "the report is written": (Report, "write"),
    "the report is summed up": (Report, "summary"),
    "measurements are looked up": (engine, "_within_measurements"),
    "modules are caught up with": (engine.Session, "_catch_up"),
    "warnings are given": (Warnings, "give"),
}


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("moment", LATE)
def test_raised_when(trainer, session, monkeypatch, caplog, moment: str, error: type) -> None:
    cls = trainer()
    code = cls.__init__.__code__
    one = session(patch())
    caplog.set_level(logging.INFO, "patchkit")

    def fails(*args: object) -> None:
        raise error("on purpose")

    with monkeypatch.context() as patching:
        patching.setattr(*LATE[moment], fails)
        with pytest.raises(error, match="on purpose"):
            one.apply(Choices())
        assert cls.__init__.__code__ is code
    assert one.report()["madeup-bug"].status == Status.AVAILABLE
    assert one.apply(Choices()).changed == ("madeup-bug",)
    assert cls().value == "fixed"


def test_what_an_earlier_call_applied_stays(library, session, apply) -> None:
    library.write("trainer", SOURCE + "\n\ndef other():\n    return bug()\n")
    module = library.load("trainer")
    one = session(patch(), patch("other-bug", Rewrite("madeup.trainer:other", BUG)))
    apply(one, only="madeup-bug")
    with pytest.raises(RuntimeError):
        one.apply(Choices(), finish=_fails)
    assert (module.Trainer().value, module.other()) == ("fixed", "bug")
    statuses = {record.id: record.status for record in one.report()}
    assert statuses == {"madeup-bug": Status.APPLIED, "other-bug": Status.DISABLED}


def test_what_a_second_call_found_again_goes(trainer, session, apply) -> None:
    cls = trainer()
    one = session(patch())
    apply(one)
    cls.__init__ = _like(cls.__init__)
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    with pytest.raises(RuntimeError):
        one.apply(Choices(), finish=_fails)
    assert cls().value == "bug"
    assert one.report()["madeup-bug"].status == Status.OVERRIDDEN
    apply(one)
    assert cls().value == "fixed"


def test_a_warning_that_a_filter_turns_into_an_error_is_raised_again(library, session) -> None:
    library.write("trainer", SOURCE)
    cls = library.load("trainer").Trainer
    one = session(patch(), patch("bad-one", Rewrite("madeup.trainer:Trainer.gone", BUG)))
    for _ in range(2):
        with warnings.catch_warnings(), pytest.raises(PatchWarning, match="bad-one drifted"):
            warnings.simplefilter("error")
            one.apply(Choices())
        assert cls().value == "bug"


def test_a_call_that_waits_for_the_first_import_waits_no_longer(fresh) -> None:
    tried, left = fresh(_EACH_LINE)
    assert tried > 20
    assert left == []


_EACH_LINE = """
import sys
import patchkit
from patchkit.engine import deferred

folder, before = patchkit.__path__[0], list(sys.meta_path)

def call(wanted):
    visited = 0
    def at_line(frame, event, argument):
        nonlocal visited
        if event == "line":
            visited += 1
            if visited == wanted:
                raise RuntimeError("on purpose")
        return at_line
    sys.settrace(lambda frame, *_: at_line if folder in frame.f_code.co_filename else None)
    try:
        patchkit.apply()
    finally:
        sys.settrace(None)
    return visited

call(0)
deferred._calls[0].withdraw()
lines = call(0)
deferred._calls[0].withdraw()
left = []
for number in range(1, lines + 1):
    try:
        call(number)
    except RuntimeError:
        if deferred._calls or sys.meta_path != before:
            left.append(number)
result = lines, left
"""


def _fails() -> None:
    raise RuntimeError("on purpose")


def _like(function):
    """Return a function with the original's text, as a module that is executed again has it."""
    namespace = dict(function.__globals__)
    exec(compile(SOURCE, function.__globals__["__file__"], "exec"), namespace)
    return namespace["Trainer"].__init__
