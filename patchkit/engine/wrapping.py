"""Put a wrapper around a live callable, and take it off again.

A Python function keeps its place: its code is swapped for a trampoline, as a rewrite swaps it for
edited code. Around any other callable goes a proxy of wrapt's.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..patch import Wrap
from ..rewrite import (
    Around,
    Binding,
    Claimant,
    CodeSwaps,
    Collision,
    Drift,
    Target,
    Wrapper,
    bind,
    chain,
)
from ..rewrite.install import Claim, SwappedFunction
from ..rewrite.misfit import missing_parameters
from ..rewrite.target import functions_in
from ..rewrite.trampoline import can_carry

if TYPE_CHECKING:
    from .remembered import Remembered


@dataclass(eq=False, repr=False)
class ProxiedCallable:
    """A callable that is not a Python function, inside a proxy of patchkit.

    The attribute that holds the callable shows what is in force. If another tool wrapped the proxy
    or keeps a reference to it, patchkit cannot remove it: disabled, it only calls through.
    """

    binding: Binding
    piece: Around
    proxy: Any = None
    enabled: bool = False
    claims: list[Claim] = field(default_factory=list)

    def in_force(self) -> tuple[Around, ...] | None:
        """Return what is in force now; None if another tool replaced the callable."""
        if any(part is self.proxy for part in chain(self._current())):
            return (self.piece,) if self.enabled else ()
        return () if self._current() is self.binding.value else None

    def carries(self, piece: object) -> bool:
        return self.enabled and piece in (self.in_force() or ())

    def hang(self) -> None:
        self.enabled = True
        if self._current() is self.binding.value:
            setattr(self.binding.owner, self.binding.name, self.proxy)

    def unhang(self) -> None:
        self.enabled = False
        if self._current() is self.proxy:
            setattr(self.binding.owner, self.binding.name, self.binding.value)

    def _current(self) -> Any:
        return vars(self.binding.owner).get(self.binding.name)


class Proxies:
    """All callables inside a proxy of patchkit. Not thread-safe: the owner locks."""

    def __init__(self) -> None:
        self._places: list[ProxiedCallable] = []

    def __iter__(self) -> Iterator[ProxiedCallable]:
        return iter(list(self._places))

    def install(self, binding: Binding, piece: Around, claimant: Claimant) -> ProxiedCallable:
        """Put a proxy around a callable.

        Raises:
            Collision: another patch wraps it; which wrapper is the outer one would be left to
                chance.
        """
        for place in self:
            if any(part is place.proxy for part in chain(binding.value)):
                if place.enabled and place.piece.owner != piece.owner:
                    raise wrap_collision(place.piece.owner, piece.owner, piece.qualname)
                if place.piece == piece:
                    place.claims.append(Claim(piece, claimant))
                    place.hang()
                    return place
        place = ProxiedCallable(binding, piece)
        place.proxy = _proxy(binding, piece, place)
        place.claims.append(Claim(piece, claimant))
        self._places.append(place)
        place.hang()
        return place

    def settle(self, *, complete: bool) -> None:
        """Do as `CodeSwaps.settle` does."""
        for place in self:
            valid = any(claim.claimant.is_valid for claim in place.claims)
            if not valid or (complete and place.in_force() == ()):
                place.hang() if valid else place.unhang()
            if any(claim.claimant.is_over for claim in place.claims):
                place.claims = [claim for claim in place.claims if not claim.claimant.is_over]
        self._places = [place for place in self._places if place.claims or place.in_force() is None]


@dataclass
class ChangedPlaces:
    """All that is changed in this process: code that is swapped, and proxies."""

    swaps: CodeSwaps = field(default_factory=CodeSwaps)
    proxies: Proxies = field(default_factory=Proxies)
    frames: dict[str, list[Any]] = field(default_factory=dict)
    """What torch had compiled when modules were fixed that were adopted."""
    adopted: dict[tuple[int, str], tuple[FunctionType, bool]] = field(default_factory=dict)
    """Functions that were adopted, and whether they are bound, by module and name: another tool
    may have put something else in their place since."""
    _found: dict[tuple[ModuleType, str], list[tuple[str, FunctionType]]] = field(
        default_factory=dict
    )

    def functions_in(self, module: ModuleType, qualname: str) -> list[tuple[str, FunctionType]]:
        """Do as `target.functions_in` does: once for all patches in a transaction."""
        found = self._found.get((module, qualname))
        if found is None:
            found = self._found[module, qualname] = functions_in(module, qualname)
        return found

    def end_transaction(self) -> None:
        """Forget what only served to look for functions, and to rewrite them."""
        self._found.clear()
        self.swaps.forget_trees()

    def adopt(self, remembered: Remembered) -> None:
        """Take over what an earlier process had kept and this one runs, until `settle`."""
        self.frames, self.adopted = dict(remembered.frames), {}
        for swap in remembered.swaps():
            function, module = swap.function(), swap.module()
            if function is not None and module is not None:
                self.swaps.adopt(function, swap.original, swap.code)
                self.adopted[id(module), swap.qualname] = function, swap.is_bound

    def adopted_in(self, module: ModuleType) -> dict[str, FunctionType]:
        """Return the functions of a module that were adopted, by name."""
        adopted = self.adopted.items()
        return {name: function for (known, name), (function, _) in adopted if known == id(module)}

    def end_adoption(self) -> None:
        """Take out what was adopted and nobody claims."""
        self.frames, self.adopted = {}, {}
        self.settle()

    def settle(self, *, complete: bool = False) -> None:
        """Take out what nobody claims validly; if `complete`, put in missing claimed changes."""
        self.swaps.settle(complete=complete)
        self.proxies.settle(complete=complete)


def wrap(
    owner: str, change: Wrap, module: ModuleType, places: ChangedPlaces, claimant: Claimant
) -> tuple[SwappedFunction | ProxiedCallable, Around]:
    """Wrap the target of a change in its loaded module.

    Raises:
        Drift: the target is missing or its signature is not what the wrapper relies on.
        Collision: another patch wraps it; which wrapper is the outer one would be left to chance.
    """
    qualname = Target.parse(change.target).qualname
    if adopted := places.adopted.get((id(module), qualname)):
        piece = Around(owner, resolve_wrapper(change.wrapper), qualname, adopted[1])
        return places.swaps.install(adopted[0], piece, claimant), piece
    binding = bind(module, qualname)
    function = _function(binding)
    if function is None and not callable(getattr(binding.owner, binding.name)):
        raise Drift(f"{qualname} is {type(binding.value).__name__}, not callable")
    _check_signature(function or getattr(binding.owner, binding.name), qualname, change.parameters)
    bound = isinstance(binding.owner, type) and not isinstance(binding.value, staticmethod)
    piece = Around(owner, resolve_wrapper(change.wrapper), qualname, bound)
    if function is None:
        return places.proxies.install(binding, piece, claimant), piece
    return places.swaps.install(function, piece, claimant), piece


def prepare(change: Wrap) -> None:
    """Import what a wrap needs, while no lock is held; what fails now fails again later."""
    try:
        resolve_wrapper(change.wrapper)
    except Exception:
        return


def wrap_collision(first: str, second: str, qualname: str) -> Collision:
    """Return the error that two patches wrap the same callable."""
    return Collision((first, second), qualname, verb="wrap")


def resolve_wrapper(wrapper: Wrapper | str) -> Wrapper:
    """Return a wrapper; one that is given as `module:name` is imported."""
    if not isinstance(wrapper, str):
        return wrapper
    module, _, name = wrapper.partition(":")
    imported: Wrapper = getattr(importlib.import_module(module), name)
    return imported


def _function(binding: Binding) -> FunctionType | None:
    """Return the Python function whose code a trampoline can take the place of, if there is one."""
    try:
        function = binding.function()
    except Drift:
        return None
    return function if can_carry(function) else None


def _check_signature(value: Any, qualname: str, expected: tuple[str, ...]) -> None:
    if not expected:
        return
    import inspect

    present = inspect.signature(value).parameters
    if problem := missing_parameters(qualname, expected, present):
        raise Drift(problem)


def _proxy(binding: Binding, piece: Around, place: ProxiedCallable) -> Any:
    from .proxy import CallableProxy

    owner = binding.owner
    module = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    proxy: Any = CallableProxy(binding.value, piece.wrapper, enabled=lambda: place.enabled)
    proxy._self_place = (module, piece.qualname)
    return proxy
