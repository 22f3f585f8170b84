"""Compare what a report says with the live objects, without asking patchkit."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Collection, Iterable
from types import FunctionType, ModuleType
from typing import Any

from patchkit.reporting.report import Report

from .madeup_notes import EARLIER, NOTES
from .snapshots import Snapshot
from .world import DRIFTED, NOT_DUE, MadeUpPlace, World

Carried = frozenset[tuple[str, str]]
"""Pairs of a patch and a target whose live function behaves as fixed."""


def live_module(name: str) -> ModuleType | None:
    """Return the module where it has finished loading."""
    module = sys.modules.get(name)
    if not isinstance(module, ModuleType):
        return None
    spec = getattr(module, "__spec__", None)
    return None if getattr(spec, "_initializing", False) else module


def answer(place: MadeUpPlace) -> Any:
    """Return what the function answers now; an object of its own where it cannot be called."""
    module = live_module(place.module)
    if module is None:
        return None
    try:
        return place.call(module)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def carried(world: World) -> Carried:
    """Return what the live functions carry now."""
    return frozenset(
        (place.patch, place.target)
        for place in world.places
        if place.fixed is not None and live_module(place.module) and answer(place) == place.fixed
    )


def plain(world: World) -> list[str]:
    """List the targets of loaded modules that do not behave as upstream made them."""
    return [
        f"{place.target} answers {answer(place)!r}"
        for place in world.places
        if live_module(place.module) and answer(place) != place.plain
    ]


def untrue(
    world: World,
    report: Report,
    *,
    replaced: Collection[str] = (),
    unknown: Collection[str] = (),
    may_have_failed: bool = False,
) -> list[str]:
    """List what a report says that is not so, or leaves out.

    Args:
        world: the library and its patches.
        report: what patchkit says.
        replaced: targets in whose place somebody put something else.
        unknown: targets of which cannot be told by calling them whether they are wrapped, since
            what stands there answers anything.
        may_have_failed: whether an error was raised that a patch may report as `failed`.
    """
    problems = []
    now = carried(world)
    for patch in world.ids:
        record = report[patch]
        says = {target.target: str(target.status) for target in record.targets}
        places = [place for place in world.places if place.patch == patch]
        loaded = [place for place in places if live_module(place.module)]
        status = str(record.status)
        for place in loaded:
            claim = says.get(place.target, f"nothing, {status}")
            is_so = (patch, place.target) in now
            if is_so and claim != "applied":
                problems.append(f"{patch}: carried, the report says {claim}")
            if not is_so and claim == "applied" and place.target not in unknown:
                problems.append(f"{patch}: not carried, the report says applied")
            if not is_so and claim == "pending":
                problems.append(f"{patch}: its module is loaded, the report says pending")
            if claim == "overridden" and place.target not in replaced:
                problems.append(f"{patch}: nobody replaced it, the report says overridden")
            silent = claim.startswith("nothing") and status in ("applied", "pending")
            if silent and not is_so and place.target not in replaced:
                problems.append(f"{patch}: not carried, the report is silent, {status}")
            beside = {other.target for other in places if other.module == place.module}
            # All targets of a patch in one module are fixed, or none is.
            if claim == "drifted" and patch != DRIFTED and beside.isdisjoint(replaced):
                problems.append(f"{patch}: nothing drifted, the report says drifted")
        here = {place.target for place in loaded}
        for place in places:
            if place.target not in here and says.get(place.target) == "applied":
                problems.append(f"{patch}: its module is not loaded, the report says applied")
        if status == "failed" and not may_have_failed:
            problems.append(f"{patch}: nothing failed, the report says failed")
        known = not any(place.target in unknown for place in places)
        if status == "applied" and known and not any(owner == patch for owner, _ in now):
            problems.append(f"{patch}: carried nowhere, its status is applied")
        if patch == NOT_DUE and status not in ("not-affected", "disabled"):
            problems.append(f"{patch}: not due, its status is {status}")
    return problems


def all_applied(world: World, report: Report, *, but: Collection[str] = ()) -> list[str]:
    """List what is not fixed, or not said to be, after an `apply` with everything loaded."""
    now = carried(world)
    problems = []
    for place in world.places:
        if place.patch in (DRIFTED, NOT_DUE) or place.patch in but:
            continue
        if (place.patch, place.target) not in now:
            problems.append(f"{place.patch}: apply() did not fix it")
        if str(report[place.patch].status) != "applied":
            claim = report[place.patch].status
            problems.append(f"{place.patch}: after apply() the report says {claim}")
    return problems


def not_original(world: World) -> list[str]:
    """List what differs from what the modules held when their body had run."""
    problems = list(plain(world))
    for name, before in NOTES.items():
        module = live_module(name)
        if module is None:
            continue
        changed = before.differences(Snapshot.of([module]))
        places = dict.fromkeys(path.partition("()")[0] for path in changed if not _passing(path))
        problems += [f"{place} is not the original" for place in places]
        loader = type(module.__spec__.loader).__name__ if module.__spec__ else "none"
        for kind in (loader, type(module.__loader__).__name__):
            if kind != "SourceFileLoader":
                problems.append(f"a module's loader is a {kind}")
    for earlier in EARLIER:
        problems += _other_code(earlier)
    return problems


def leftovers(meta_path: list[Any], ours: Iterable[str] = ("<patchkit",)) -> list[str]:
    """List what stays behind outside the library.

    Args:
        meta_path: what `sys.meta_path` held at the beginning.
        ours: how names of texts begin that patchkit puts into `linecache`.
    """
    problems = []
    if any(str(name).startswith(tuple(ours)) for name in linecache.cache):
        problems.append("linecache holds a text of ours")
    if list(map(id, sys.meta_path)) != list(map(id, meta_path)):
        known = set(map(id, meta_path))
        new = sorted(type(finder).__name__ for finder in sys.meta_path if id(finder) not in known)
        problems.append(f"sys.meta_path is another: {', '.join(new) or 'one is gone'}")
    return problems


def _other_code(before: Snapshot) -> list[str]:
    """List the functions of modules that are gone which run something else."""
    return [
        f"{path} of a module that is gone runs other code"
        for path, function in before.entries.items()
        if isinstance(function, FunctionType)
        and path.endswith("()")
        and function.__code__ is not before.entries[f"{path}.__code__"]
    ]


def _passing(path: str) -> bool:
    return path.endswith((":__loader__", ":__cached__", ":madeup_notes"))
