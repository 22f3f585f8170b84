"""Carry out one change of a patch on one loaded module."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Protocol

from .patch import Change, Rewrite
from .rewrite import CodeSwaps, Drift, Edit, RewrittenFunction, Target, bind
from .rewrite.edit import apply_edits
from .rewrite.rule import Rule
from .wrapping import wrap


class Replaced(Drift):
    """Somebody put a function of another module in the place of the target."""


@dataclass(frozen=True)
class Difference:
    """What one patch changes in one file; made into text only when somebody wants to read it.

    Args:
        name: short name of the file.
        before: its lines.
        edits: what is changed in them.
    """

    name: str
    before: tuple[str, ...]
    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        after = apply_edits(self.before, self.edits)
        diff = difflib.unified_diff(self.before, after, self.name, f"<patchkit {self.name}>", n=2)
        return "".join(diff)


class Mended(Protocol):
    """A live callable that carries a change, and the way back."""

    qualname: str

    def live(self) -> bool:
        """Whether the change is in force now."""

    def undo(self) -> None:
        """Put back what was there, unless someone replaced it since."""

    def redo(self) -> None:
        """After `undo`, put the change there again, unless someone replaced it since."""

    def diff(self) -> Difference | str:
        """What was changed: text by `str`."""


@dataclass
class MendedFunction:
    """A function rewritten for one patch."""

    owner: str
    rule: Rule
    module: ModuleType
    qualname: str
    function: FunctionType
    entry: RewrittenFunction
    edits: tuple[Edit, ...]
    swaps: CodeSwaps

    def live(self) -> bool:
        return self.entry.live and self._still_there()

    def undo(self) -> None:
        self.swaps.remove(self.owner, self.function, self.rule)

    def redo(self) -> None:
        known = self.swaps.of(self.function)
        if known.live if known else self.function.__code__ is self.entry.original:
            self.entry = self.swaps.install(
                self.owner, self.function, self.entry.source, self.rule, list(self.edits)
            )

    def diff(self) -> Difference:
        return Difference(self.entry.source.name, self.entry.source.lines, self.edits)

    def _still_there(self) -> bool:
        try:
            return bind(self.module, self.qualname).function() is self.function
        except Drift:
            return False


def mend(owner: str, change: Change, module: ModuleType, swaps: CodeSwaps) -> list[Mended]:
    """Carry out a change, wholly or not at all.

    Args:
        owner: the id of the patch.
        change: what to do.
        module: the loaded module that the change's target lies in.
        swaps: the record of rewritten functions.

    Returns:
        what was mended; empty where a target with wildcards finds no site here.

    Raises:
        Drift: a target does not look as expected.
        Collision: another patch edits the same place, or wraps the same callable.
    """
    if not isinstance(change, Rewrite):
        return [wrap(owner, change, module)]
    target = Target.parse(change.target)
    done: list[Mended] = []
    try:
        for qualname in target.qualnames_in(module):
            if mended := _rewrite(owner, change, target, module, qualname, swaps):
                done.append(mended)
    except BaseException:
        for one in reversed(done):
            one.undo()
        raise
    return done


def _check_place(function: FunctionType, module: ModuleType, qualname: str) -> None:
    """Raise Replaced where the function is not the module's own."""
    if function.__module__ != module.__name__:
        raise Replaced(
            f"{qualname} is {function.__module__}:{function.__qualname__} here, which somebody put "
            "in its place"
        )


def _rewrite(
    owner: str,
    change: Rewrite,
    target: Target,
    module: ModuleType,
    qualname: str,
    swaps: CodeSwaps,
) -> MendedFunction | None:
    try:
        function = bind(module, qualname).function()
    except Drift:
        if target.is_glob:
            return None
        raise
    known = swaps.of(function)
    if known is not None and known.carries(owner, change.rule):
        return None
    missing = [name for name in change.rule.needs if name not in function.__globals__]
    if missing:
        if target.is_glob:
            return None
        _check_place(function, module, qualname)
        raise Drift(f"{module.__name__} does not import {', '.join(missing)} any more")
    sites = []
    if change.rule.may_concern(known.original if known else function.__code__):
        source = swaps.source(function)
        sites = change.rule.plan(source)
    if target.is_glob and not sites:
        return None
    if not sites or len(sites) != (change.sites or len(sites)):
        known_number = change.sites or "at least 1"
        _check_place(function, module, qualname)
        raise Drift(f"{qualname} has {len(sites)} sites of this bug where {known_number} is known")
    edits = [edit for site in sites for edit in site]
    entry = swaps.install(owner, function, source, change.rule, edits)
    return MendedFunction(
        owner, change.rule, module, qualname, function, entry, tuple(edits), swaps
    )
