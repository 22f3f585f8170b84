"""Whoever waits for a module is told once, when it has finished loading."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

import pytest

from patchkit.engine import hooks
from patchkit.engine.hooks import when_loaded
from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import Pattern, Rule, replace


@pytest.fixture
def told() -> Iterator[list[tuple[str, bool]]]:
    yield []
    for waiting in hooks._listeners:
        hooks.ignore(waiting)


def listener(told: list[tuple[str, bool]], name: str):
    def tell(module: ModuleType) -> None:
        told.append((name, hasattr(module, "done")))

    return tell


def test_told_after_the_module_has_loaded(library, told) -> None:
    module = library.write("hooked_one", "done = True\n")
    when_loaded(module, listener(told, "a"))
    assert told == []
    library.load("hooked_one")
    assert told == [("a", True)]


def test_asked_twice_and_told_once(library, told) -> None:
    module, tell = library.write("hooked_two", "done = True\n"), listener(told, "a")
    when_loaded(module, tell)
    when_loaded(module, tell)
    library.load("hooked_two")
    assert told == [("a", True)]


def test_several_may_wait_for_one_module(library, told) -> None:
    module = library.write("hooked_three", "done = True\n")
    when_loaded(module, listener(told, "a"))
    when_loaded(module, listener(told, "b"))
    library.load("hooked_three")
    assert sorted(told) == [("a", True), ("b", True)]


def test_told_at_once_of_a_module_that_is_there(library, told) -> None:
    module = library.write("hooked_four", "done = True\n")
    library.load("hooked_four")
    when_loaded(module, listener(told, "a"))
    assert told == [("a", True)]


def test_told_again_after_asking_again(library, told) -> None:
    module, tell = library.write("hooked_five", "done = True\n"), listener(told, "a")
    when_loaded(module, tell)
    library.load("hooked_five")
    library.forget()
    when_loaded(module, tell)
    library.load("hooked_five")
    assert told == 2 * [("a", True)]


def test_a_session_that_is_gone_does_not_deafen_the_next(library, session, apply) -> None:
    library.write("hooked_six", "def f():\n    return bug()\n")
    rule = Rule(Pattern("bug()"), lambda node: [replace(node, "'fixed'")])
    patch = Patch(
        id="madeup-bug",
        title="it is fixed",
        affects={"madeup": ">=1"},
        changes=(Rewrite("madeup.hooked_six:f", rule),),
    )
    first, second = session(patch), session(patch)
    apply(first)
    first.revert(None)
    apply(second)
    assert library.load("hooked_six").f() == "fixed"


def test_an_import_that_another_thread_has_begun(library, told) -> None:
    """Half of the module is there: whoever waits is told when all is, and does not wait here."""
    source = "import time\nhalf = True\ntime.sleep(0.3)\ndone = True\n"
    module = library.write("hooked_halfway", source)
    importing = threading.Thread(target=importlib.import_module, args=(module,))
    importing.start()
    while not hasattr(sys.modules.get(module), "half"):
        time.sleep(0.001)
    when_loaded(module, listener(told, "a"))
    assert told == []
    importing.join()
    assert told == [("a", True)]
    assert type(sys.modules[module].__spec__) is ModuleSpec


def test_an_import_that_has_begun_and_fails(library, told) -> None:
    module = library.write("hooked_in_vain", "import hook_for_test\n1 / 0\n")
    hook = ModuleType("hook_for_test")
    sys.modules["hook_for_test"] = hook
    when_loaded(module, listener(told, "a"))
    with pytest.raises(ZeroDivisionError):
        library.load("hooked_in_vain")
    assert told == []


def test_a_module_has_the_loader_that_it_would_have_had(library, told) -> None:
    name = library.write("hooked_seven", "loader = __loader__\nits_spec = __spec__\ndone = True\n")
    when_loaded(name, listener(told, "a"))
    module = library.load("hooked_seven")
    kinds = {type(each) for each in (module.loader, module.__loader__, module.__spec__.loader)}
    assert kinds == {SourceFileLoader}
    assert told == [("a", True)]


def test_the_finder_is_gone_when_nobody_waits(library, told) -> None:
    before = list(sys.meta_path)
    name = library.write("hooked_eight", "done = True\n")
    when_loaded(name, listener(told, "a"))
    assert sys.meta_path != before
    library.load("hooked_eight")
    assert sys.meta_path == before


def test_an_import_that_is_under_way_skips_no_finder_as_ours_goes(library, told) -> None:
    """As a `revert()` in another thread may have it; list iteration passes over one then."""

    class Reverting:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            for waiting in hooks._listeners:
                hooks.ignore(waiting)

    when_loaded(library.write("hooked_nine", "done = True\n"), listener(told, "a"))
    library.write("of_nobody", "done = True\n")
    importlib.import_module("madeup")
    before = list(sys.meta_path)
    last = max(map(before.index, filter(lambda finder: finder is PathFinder, before)))
    sys.meta_path.insert(last, Reverting)
    try:
        assert library.load("of_nobody").done
        assert hooks.FINDER not in sys.meta_path
    finally:
        sys.meta_path = [finder for finder in sys.meta_path if finder is not Reverting]
