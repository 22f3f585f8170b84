"""Imports and calls of `apply` at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from patchkit.patch import Rewrite, Status

from ..madeup_bug import BUG, SOURCE, patch


def test_threads(library, session, apply) -> None:
    """Imports and calls of apply from many threads at once: no deadlock, each target once."""
    names = [f"m{number}" for number in range(12)]
    for name in names:
        library.write(f"{name}_trainer", "import time\ntime.sleep(0.01)\n" + SOURCE)
    one = session(patch("madeup-bug", Rewrite("madeup.*_trainer:*Trainer.__init__", BUG)))
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    work: list[Callable[[], object]] = [lambda: apply(one) for _ in names]
    work += [lambda name=name: library.load(f"{name}_trainer") for name in names]
    threads = [threading.Thread(target=run, args=(one_work,)) for one_work in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "deadlock"
    assert not errors
    apply(one)
    assert all(library.load(f"{name}_trainer").Trainer().value == "fixed" for name in names)


def test_apply_from_within_the_module_that_it_fixes(library, session, apply) -> None:
    one = session(patch())
    library.write("trainer", f"import hook_for_test\nhook_for_test.call()\n{SOURCE}")
    hook = type(sys)("hook_for_test")
    hook.call = lambda: apply(one)
    sys.modules["hook_for_test"] = hook
    try:
        library.load("trainer")
    finally:
        del sys.modules["hook_for_test"]
    assert one.report()["madeup-bug"].status == Status.APPLIED
    assert library.load("trainer").Trainer().value == "fixed"
