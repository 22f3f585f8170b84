"""Carry out one change of a patch on one loaded module."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from ..environment import distribution_of
from ..patch import Change, Rewrite, note
from ..rewrite import Claimant, CodeSwaps, Drift, Edits, Piece, Target, Wrapper, bind
from ..rewrite.diff import Difference
from ..rewrite.install import SwappedFunction
from ..rewrite.misfit import misfit
from .wrapping import ChangedPlaces, ProxiedCallable, wrap


class TargetReplaced(Drift):
    """Another tool put a function of another module in the place of the target."""


@dataclass(frozen=True)
class WrapNote:
    """A wrapper as shown in a diff; made into text only when somebody wants to read it."""

    target: str
    wrapper: Wrapper | str

    def __str__(self) -> str:
        return note(self.target, self.wrapper)


def _module_of(namespace: dict[str, Any]) -> str:
    """Return the name of the module whose names these are.

    Not what `__name__` says there: axolotl imports all that a text mentions into its own modules,
    and some texts mention `__name__`.
    """
    for name, module in list(sys.modules.items()):
        if issubclass(type(module), ModuleType) and vars(module) is namespace:
            return name
    return str(namespace.get("__name__", ""))


@dataclass(frozen=True, eq=False)
class FixedCallable:
    """A live callable that carries a change (`piece`), in a module that may be unloaded."""

    module: weakref.ref[ModuleType]
    qualname: str
    place: SwappedFunction | ProxiedCallable
    piece: Piece
    shown: Difference | WrapNote

    def is_live(self) -> bool:
        """Tell whether the change is in force where its target is looked for."""
        if self.module() is None or not self.place.carries(self.piece):
            return False
        if isinstance(self.place, ProxiedCallable):
            return True
        function = self._function_there()
        return function is not None and function is self.place.function()

    def copied_by(self) -> str:
        """Return who put a copy with this change in the place of its target; empty if nobody."""
        function = self._function_there()
        if isinstance(self.place, ProxiedCallable) or function in (None, self.place.function()):
            return ""
        assert function is not None
        if not self.place.is_copied_with(self.piece, function):
            return ""
        package = _module_of(function.__globals__).partition(".")[0]
        if package == "__main__":
            return "the script"
        return distribution_of(package).partition(" ")[0] or package or "someone"

    def _function_there(self) -> FunctionType | None:
        module = self.module()
        try:
            return None if module is None else bind(module, self.qualname).function()
        except Drift:
            return None


def fix(
    owner: str,
    change: Change,
    module: ModuleType,
    places: ChangedPlaces,
    claimant: Claimant,
    before: tuple[FixedCallable, ...] = (),
    taken: set[tuple[int, object]] | None = None,
    kept_as: str = "",
) -> list[FixedCallable]:
    """Carry out a change.

    Args:
        owner: the id of the patch.
        change: what to do.
        module: the loaded module that the change's target lies in.
        places: the record of all that is changed.
        claimant: who wants it.
        before: what an earlier call fixed and is still in force.
        taken: the functions that other targets of the patch have fixed, with the rule; this call
            adds its own.
        kept_as: the name under which results of the change's rule are kept, or nothing.

    Returns:
        what is fixed; empty where a target with wildcards finds no site here.

    Raises:
        Drift: a target does not look as expected. What was fixed until then stays, and goes
            when the claimant's claims are no longer valid.
        Collision: another patch edits the same place, or wraps the same callable.
    """
    still_live = {fixed.qualname: fixed for fixed in before}
    taken = set() if taken is None else taken
    taken.update(map(_edited_place, before))
    if not isinstance(change, Rewrite):
        qualname = Target.parse(change.target).qualname
        if qualname in still_live:
            return [still_live[qualname]]
        place, piece = wrap(owner, change, module, places, claimant)
        shown = WrapNote(f"{module.__name__}:{qualname}", change.wrapper)
        return [FixedCallable(weakref.ref(module), qualname, place, piece, shown)]
    target = Target.parse(change.target)
    callables = []
    for qualname, function in _functions(target, module, places):
        fixed = still_live.get(qualname)
        original = places.swaps.original(function)
        if fixed is None and (not target.is_glob or change.rule.may_concern(original)):
            fixed = _rewrite(
                owner,
                change,
                target,
                module,
                qualname,
                function,
                places.swaps,
                claimant,
                taken,
                kept_as,
            )
        if fixed is not None:
            taken.add(_edited_place(fixed))
            callables.append(fixed)
    return callables


def _functions(
    target: Target, module: ModuleType, places: ChangedPlaces
) -> list[tuple[str, FunctionType]]:
    """Return the functions that a target means in a module, with their names.

    One that was adopted counts, whatever another tool has put in its place since.

    Raises:
        Drift: a target without wildcards is missing, or replaced.
    """
    adopted = places.adopted_in(module)
    if target.qualname_is_glob:
        found = places.functions_in(module, target.qualname)
        return [(name, adopted.get(name, function)) for name, function in found]
    if target.qualname in adopted:
        return [(target.qualname, adopted[target.qualname])]
    try:
        binding = bind(module, target.qualname)
    except Drift:
        if target.is_glob:
            return []
        raise
    try:
        return [(target.qualname, binding.function())]
    except Drift as error:
        if target.is_glob:
            return []
        raise TargetReplaced(f"{error}, which somebody put in its place") from None


def _edited_place(fixed: FixedCallable) -> tuple[int, object]:
    rule = fixed.piece.rule if isinstance(fixed.piece, Edits) else None
    return id(fixed.place), rule


def _check_place(function: FunctionType, module: ModuleType, qualname: str) -> None:
    """Raise TargetReplaced where the function is not the module's own."""
    if function.__module__ != module.__name__:
        raise TargetReplaced(
            f"{qualname} is {function.__module__}:{function.__qualname__} here, which somebody put "
            "in its place"
        )


def is_replaced(module: ModuleType, qualname: str) -> bool:
    """Tell whether a target is missing, or replaced by an object of another module."""
    try:
        binding = bind(module, qualname)
        return binding.function().__module__ != module.__name__
    except Drift:
        return True


def _rewrite(
    owner: str,
    change: Rewrite,
    target: Target,
    module: ModuleType,
    qualname: str,
    function: FunctionType,
    swaps: CodeSwaps,
    claimant: Claimant,
    taken: set[tuple[int, object]],
    kept_as: str,
) -> FixedCallable | None:
    known = swaps.place(function)
    for piece in known.in_force() or ():
        if isinstance(piece, Edits) and piece.key == (owner, change.rule):
            if (id(known), change.rule) in taken:
                return None  # another target of this patch names the same function
            # It was fixed under another name, or before its module left `sys.modules` for a while.
            swaps.install(function, piece, claimant, known)
            shown = Difference(known.name, known.lines, piece.edits)
            return FixedCallable(weakref.ref(module), qualname, known, piece, shown)
    missing = [name for name in change.rule.needs if name not in function.__globals__]
    if missing and target.is_glob:
        return None
    sites = []
    if change.rule.may_concern(known.original):
        sites = swaps.plan(known, change.rule, kept_as)
    if target.is_glob and not sites:
        return None
    if problem := misfit(module.__name__, missing, len(sites), change.sites, qualname):
        _check_place(function, module, qualname)
        raise Drift(problem)
    piece = Edits(owner, change.rule, tuple(edit for site in sites for edit in site), kept_as)
    swaps.install(function, piece, claimant, known)
    shown = Difference(known.name, known.lines, piece.edits)
    return FixedCallable(weakref.ref(module), qualname, known, piece, shown)
