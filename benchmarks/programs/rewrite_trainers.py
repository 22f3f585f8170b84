"""Rewrite each trainer's `__init__` once, and print what every part of that took."""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import linecache
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from patchkit.catalogue import entries as catalogue
from patchkit.catalogue.resolution import resolve
from patchkit.patch import Change, Rewrite
from patchkit.rewrite import CodeSwaps, Edits, Target, bind

PATCH = "trl-adapter-bf16-cast"
FIRST_LOOKS = 200

T = TypeVar("T")


def main(shift: int) -> None:
    """Measure all trainers, in another order for each shift: the first one warms things up."""
    rewrites = {Target.parse(change.target): change for change in _rewrites()}
    for target in rewrites:
        importlib.import_module(target.module)
    targets = list(rewrites)
    shift %= len(targets)
    gc.disable()  # as patchkit does while it rewrites
    measured = {
        target.qualname.partition(".")[0]: _measure(target, rewrites[target])
        for target in targets[shift:] + targets[:shift]
    }
    print("\n" + json.dumps(measured))


def _rewrites() -> list[Rewrite]:
    changes: tuple[Change, ...] = resolve(catalogue.load().entries[PATCH].patch).changes
    return [
        change
        for change in changes
        if isinstance(change, Rewrite) and not Target.parse(change.target).is_glob
    ]


class _Claimant:
    is_valid, is_over = True, False


def _measure(target: Target, change: Rewrite) -> dict[str, float]:
    function = bind(sys.modules[target.module], target.qualname).function()
    original = function.__code__
    rule, swaps = change.rule, CodeSwaps()
    linecache.clearcache()
    _, look = _time(lambda: [rule.may_concern(original) for _ in range(FIRST_LOOKS)])
    place = swaps.place(function)
    source, locate = _time(place.located)
    sites, plan = _time(lambda: rule.plan(source))
    edits = [edit for site in sites for edit in site]
    piece, claimant = Edits(PATCH, rule, tuple(edits)), _Claimant()
    _, install = _time(lambda: swaps.install(function, piece, claimant, place))
    assert function.__code__ is not original
    claimant.is_valid, claimant.is_over = False, True
    _, undo = _time(lambda: swaps.settle(complete=False))
    assert function.__code__ is original
    linecache.clearcache()
    _, getsource = _time(lambda: inspect.getsource(function))
    return {
        "look": look / FIRST_LOOKS,
        "locate": locate,
        "plan": plan,
        "install": install,
        "undo": undo,
        "getsource": getsource,
    }


def _time(work: Callable[[], T]) -> tuple[T, float]:
    """Return what some work gives, and the CPU seconds it takes."""
    before = time.process_time()
    result = work()
    return result, time.process_time() - before


if __name__ == "__main__":
    main(int(sys.argv[1]))
