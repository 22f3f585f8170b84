"""Carry out one change of a patch on one loaded module."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeGuard

from ..environment import distribution_of
from ..patch import Change, Rewrite, note
from ..rewrite import Claimant, Drift, Edits, Piece, Target, bind
from ..rewrite.diff import Difference
from ..rewrite.install import SwappedFunction
from ..rewrite.misfit import misfit
from .wrapping import ChangedPlaces, ProxiedCallable, wrap


class TargetReplaced(Drift):
    """Another tool put a function of another module in the place of the target."""


def _module_of(namespace: dict[str, Any]) -> str:
    """Return the name of the module whose names these are.

    Not what `__name__` says there: axolotl imports all that a text mentions into its own modules,
    and some texts mention `__name__`.
    """
    for name, module in list(sys.modules.items()):
        if issubclass(type(module), ModuleType) and vars(module) is namespace:
            return name
    return str(namespace.get("__name__", ""))


@dataclass(eq=False, repr=False)
class FixedCallable:
    """A live callable that carries a change (`piece`), in a module that may be unloaded."""

    module: weakref.ref[ModuleType]
    qualname: str
    place: SwappedFunction | ProxiedCallable
    piece: Piece
    shown: Difference | str

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
        module = self.module()
        own = "" if module is None else module.__name__.partition(".")[0]
        # A copy may have the globals of its target, or say that it is from its target's module.
        for name in (_module_of(function.__globals__), function.__module__ or ""):
            package = name.partition(".")[0]
            if package == "__main__":
                return "the script"
            if package not in ("", own):
                return distribution_of(package).partition(" ")[0] or package
        return "someone"

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
    target = Target.parse(change.target)
    if not isinstance(change, Rewrite):
        if target.qualname in still_live:
            return [still_live[target.qualname]]
        place, piece = wrap(owner, change, module, places, claimant)
        shown = note(f"{module.__name__}:{target.qualname}", change.wrapper)
        return [FixedCallable(weakref.ref(module), target.qualname, place, piece, shown)]
    rewriting = _Rewriting(owner, change, target, module, places, claimant, taken, kept_as)
    callables = []
    for qualname, function in rewriting.functions():
        fixed = still_live.get(qualname) or rewriting.fix(qualname, function)
        if fixed is not None:
            taken.add(_edited_place(fixed))
            callables.append(fixed)
    return callables


class _Rewriting(NamedTuple):
    """One change that rewrites, on one module; the arguments are those of `fix`."""

    owner: str
    change: Rewrite
    target: Target
    module: ModuleType
    places: ChangedPlaces
    claimant: Claimant
    taken: set[tuple[int, object]]
    kept_as: str

    def functions(self) -> list[tuple[str, FunctionType]]:
        """Return the functions that the target means, with their names.

        One that was adopted counts, whatever another tool has put in its place since.

        Raises:
            Drift: a target without wildcards is missing, or replaced.
        """
        adopted, name = self.places.adopted_in(self.module), self.target.qualname
        if self.target.qualname_is_glob:
            found = self.places.functions_in(self.module, name)
            return [(name, adopted.get(name, function)) for name, function in found]
        try:
            return [(name, adopted.get(name) or _function_at(self.module, name))]
        except Drift:
            if self.target.is_glob:
                return []
            raise

    def fix(self, qualname: str, function: FunctionType) -> FixedCallable | None:
        """Edit a function; return None where there is nothing to do for this target."""
        swaps, rule = self.places.swaps, self.change.rule
        if self.target.is_glob and not rule.may_concern(swaps.original(function)):
            return None
        place = swaps.place(function)
        # In force if it was fixed under another name, or its module left `sys.modules` for a while.
        edits = next(filter(self._is_ours, place.in_force() or ()), None)
        if edits is None:
            edits = self._planned(place, qualname, function)
        elif (id(place), rule) in self.taken:
            return None  # another target of this patch names the same function
        if edits is None:
            return None
        swaps.install(function, edits, self.claimant, place)
        shown = Difference(place.name, place.lines, edits.edits)
        return FixedCallable(weakref.ref(self.module), qualname, place, edits, shown)

    def _is_ours(self, piece: Piece) -> TypeGuard[Edits]:
        return isinstance(piece, Edits) and piece.key == (self.owner, self.change.rule)

    def _planned(
        self, place: SwappedFunction, qualname: str, function: FunctionType
    ) -> Edits | None:
        """Return the edits of all sites; None where a wildcard finds none.

        Raises:
            Drift: the function does not look as expected.
        """
        rule = self.change.rule
        missing = [name for name in rule.needs if name not in function.__globals__]
        if missing and self.target.is_glob:
            return None
        concerned = rule.may_concern(place.original)
        sites = self.places.swaps.plan(place, rule, self.kept_as) if concerned else []
        if self.target.is_glob and not sites:
            return None
        here = self.module.__name__
        problem = misfit(here, missing, len(sites), self.change.sites, qualname)
        if problem and function.__module__ != here:
            raise TargetReplaced(
                f"{qualname} is {function.__module__}:{function.__qualname__} here, which somebody "
                "put in its place"
            )
        if problem:
            raise Drift(problem)
        return Edits(self.owner, rule, tuple(edit for site in sites for edit in site), self.kept_as)


def _function_at(module: ModuleType, qualname: str) -> FunctionType:
    """Return the function that a target without wildcards names.

    Raises:
        Drift: there is none.
    """
    binding = bind(module, qualname)
    try:
        return binding.function()
    except Drift as error:
        raise TargetReplaced(f"{error}, which somebody put in its place") from None


def _edited_place(fixed: FixedCallable) -> tuple[int, object]:
    rule = fixed.piece.rule if isinstance(fixed.piece, Edits) else None
    return id(fixed.place), rule


def is_replaced(module: ModuleType, qualname: str) -> bool:
    """Tell whether a target is missing, or replaced by an object of another module."""
    try:
        return bind(module, qualname).function().__module__ != module.__name__
    except Drift:
        return True
