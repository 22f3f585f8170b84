"""What holds is read off the live objects, whatever others did to them meanwhile."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import warnings
import weakref
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from patchkit import PatchError, PatchWarning
from patchkit.patch import Rewrite, Status, Wrap

from ..installed import distribution
from ..madeup_bug import BUG, SOURCE, patch
from .conftest import double

HEADS = "".join(
    f"class Head{number}:\n    def forward(self):\n        return bug()\n\n" for number in range(4)
)
STEP = "madeup.trainer:Trainer.step"


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")
@pytest.mark.parametrize("again", [1, 2])
def test_siblings_of_what_was_replaced_stay_fixed(library, session, apply, again: int) -> None:
    library.write("heads", f"{HEADS}def bug():\n    return 'bug'\n")
    module = library.load("heads")
    made = session(patch("madeup-bug", Rewrite("madeup.*:*.forward", BUG)))
    apply(made)
    module.Head1.forward = lambda self: "theirs"
    for _ in range(again):
        apply(made)
    answers = [getattr(module, f"Head{number}")().forward() for number in range(4)]
    assert answers == ["fixed", "theirs", "fixed", "fixed"]
    statuses = {each.target[-13:]: each.status for each in made.report()["madeup-bug"].targets}
    assert statuses == {
        f"Head{number}.forward": Status.OVERRIDDEN if number == 1 else Status.APPLIED
        for number in range(4)
    }


def test_siblings_of_what_was_replaced_by_code_with_the_bug(library, session, apply) -> None:
    library.write("heads", f"{HEADS}def bug():\n    return 'bug'\n")
    library.write("tool", "def forward(self):\n    return bug()\n\ndef bug():\n    return 'bug'\n")
    module = library.load("heads")
    made = session(patch("madeup-bug", Rewrite("madeup.heads:Head*.forward", BUG)))
    apply(made)
    module.Head1.forward = library.load("tool").forward
    assert made.report()["madeup-bug"].status is Status.OVERRIDDEN
    assert apply(made).changed == ("madeup-bug",)
    assert made.report()["madeup-bug"].status is Status.APPLIED
    answers = [getattr(module, f"Head{number}")().forward() for number in range(4)]
    assert answers == 4 * ["fixed"]


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")
@pytest.mark.parametrize("name", ["__init__", "step"])
@pytest.mark.parametrize("kind", [mock.MagicMock, mock.Mock])
def test_a_mock_neither_hangs_nor_sticks(trainer, session, apply, name: str, kind: Any) -> None:
    cls = trainer()
    made = session(patch("a-a"), patch("b-b", Wrap(STEP, double)))
    concerned, other = ("a-a", "b-b") if name == "__init__" else ("b-b", "a-a")
    with mock.patch.object(cls, name, kind()):
        report = apply(made)
        # There is no code to edit in a mock; a wrapper can stand around anything.
        expected = Status.DRIFTED if name == "__init__" else Status.APPLIED
        assert report[concerned].status is expected
        assert report[other].status is Status.APPLIED
    assert made.report()[concerned].status is not Status.APPLIED
    assert apply(made)[concerned].status is Status.APPLIED
    assert (cls().value, cls().step(2)) == ("fixed", 4)


def test_revert_within_a_mock(trainer, session, apply) -> None:
    cls = trainer()
    original, code = cls.step, cls.step.__code__
    made = session(patch("b-b", Wrap(STEP, double)))
    for _ in range(3):
        apply(made)
        with mock.patch.object(cls, "step"):
            made.revert(None)
        assert cls.step is original
        assert cls.step.__code__ is code


def test_a_module_that_left_and_came_again(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    earlier = library.load("trainer").Trainer
    made = session(patch())
    apply(made)
    del sys.modules["madeup.trainer"]
    assert made.report()["madeup-bug"].status is Status.PENDING
    again = library.load("trainer").Trainer
    assert again is not earlier
    assert made.report()["madeup-bug"].status is Status.APPLIED
    assert (earlier().value, again().value) == ("fixed", "fixed")
    made.revert(None)
    assert (earlier().value, again().value) == ("bug", "bug")


def test_a_module_that_is_unloaded_goes_away(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    made = session(patch("a-a"), patch("b-b", Wrap(STEP, double)))
    apply(made)
    gone = weakref.ref(library.load("trainer").Trainer)
    library.forget()
    gc.collect()
    assert gone() is None


def test_an_interrupt_while_a_module_is_fixed(library, session, apply) -> None:
    def interrupt(node: Any) -> Any:
        if not presses:
            return BUG.edit(node)
        presses.pop()
        raise KeyboardInterrupt

    presses = [1]
    library.write("trainer", SOURCE)
    rule = type(BUG)(BUG.site, interrupt, BUG.names)
    made = session(patch("a-a", Rewrite("madeup.trainer:Trainer.__init__", rule)))
    apply(made)
    with pytest.raises(KeyboardInterrupt):
        library.load("trainer")
    assert made.report()["a-a"].status is Status.PENDING
    assert library.load("trainer").Trainer().value == "fixed"
    assert made.report()["a-a"].status is Status.APPLIED


def test_where_warnings_are_errors_an_import_goes_on(library, session, apply) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= 1"))
    library.write("other", "def f():\n    return bug()\n")
    made = session(patch("a-a"), patch("b-b", Rewrite("madeup.other:f", BUG)))
    apply(made)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert library.load("trainer").Trainer().value == 1
        assert library.load("other").f() == "fixed"
    assert made.report()["a-a"].status is Status.DRIFTED


STUBS = {
    "None": None,
    "a namespace": SimpleNamespace(),
    "a mock": mock.MagicMock(),
    "a mock of a module": mock.MagicMock(spec=ModuleType("madeup.trainer")),
    "a module without a spec": ModuleType("madeup.trainer"),
}


@pytest.mark.filterwarnings("ignore::patchkit.PatchWarning")
@pytest.mark.parametrize("stub", STUBS)
def test_a_stub_takes_its_own_patch_away_and_no_other(library, session, apply, stub: str) -> None:
    library.write("trainer", SOURCE)
    library.write("other", "def f():\n    return bug()\n")
    library.load("other")
    made = session(patch("a-a"), patch("b-b", Rewrite("madeup.other:f", BUG)))
    with mock.patch.dict(sys.modules, {"madeup.trainer": STUBS[stub]}):
        report = apply(made)
        assert report["a-a"].status is Status.DRIFTED
        assert report["b-b"].status is Status.APPLIED
        with pytest.raises(PatchError, match="a-a drifted"):
            apply(made, strict=True)
    apply(made)
    assert library.load("trainer").Trainer().value == "fixed"
    assert made.report()["a-a"].status is Status.APPLIED


def test_a_stub_of_the_package(library, session, apply) -> None:
    library.write("trainer", SOURCE)
    with mock.patch.dict(sys.modules, {"madeup": SimpleNamespace()}):
        assert apply(session(patch()))["madeup-bug"].status is Status.PENDING


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_fork_while_another_thread_is_at_it(trainer, session, apply) -> None:
    trainer()
    made = session(patch())
    done = threading.Event()

    def apply_and_revert() -> None:
        while not done.is_set():
            apply(made)
            made.revert(None)

    busy = threading.Thread(target=apply_and_revert)
    busy.start()
    try:
        for _ in range(30):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if not child:
                threading.Timer(20, os._exit, [1]).start()
                made.report()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        busy.join()


def test_a_second_call_for_several_functions_keeps_their_code(library, session, apply) -> None:
    library.write("heads", f"{HEADS}def bug():\n    return 'bug'\n")
    module = library.load("heads")
    made = session(patch("madeup-bug", Rewrite("madeup.*:*.forward", BUG)))
    apply(made)
    codes = [getattr(module, f"Head{number}").forward.__code__ for number in range(4)]
    assert apply(made).changed == ()
    assert codes == [getattr(module, f"Head{number}").forward.__code__ for number in range(4)]


def test_a_class_that_a_wildcard_meets_later(library, session, apply) -> None:
    library.write("heads", f"{HEADS}def bug():\n    return 'bug'\n")
    module = library.load("heads")
    made = session(patch("madeup-bug", Rewrite("madeup.*:*.forward", BUG)))
    with mock.patch.object(module, "Head2"):
        apply(made)
    assert apply(made).changed == ("madeup-bug",)
    assert module.Head2().forward() == "fixed"


def test_modules_of_a_zip_file(tmp_path, session, apply, monkeypatch) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("madeup_packed/__init__.py", "")
        packed.writestr("madeup_packed/a_head.py", HEADS + "def bug():\n    return 'bug'\n")
    distribution(tmp_path, "madeup", "1.0")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    made = session(patch("madeup-bug", Rewrite("madeup_packed.*_head:*.forward", BUG)))
    apply(made)
    module = importlib.import_module("madeup_packed.a_head")
    assert module.Head0().forward() == "fixed"
    for name in [name for name in sys.modules if name.startswith("madeup_packed")]:
        del sys.modules[name]


def test_a_warning_is_given_where_a_library_is_imported(library, session, apply) -> None:
    library.write("trainer", SOURCE.replace("= bug()", "= 1"))
    apply(session(patch()))
    with pytest.warns(PatchWarning, match="drifted") as caught:
        library.load("trainer")
    assert caught[0].filename.endswith("conftest.py")
