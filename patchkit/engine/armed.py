"""Fix the modules of a patch that is wanted, and report what holds of it in this process.

Nothing here says that a patch is applied: what was done is remembered with the module object and
the functions that it was done to, and whether it holds is read off `sys.modules` and them.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import NamedTuple, Protocol

from ..catalogue.entries import Entry
from ..catalogue.resolution import Resolution, resolve
from ..environment import cached_lookup, module_is_absent
from ..patch import Change, Rewrite, Status, Wrap
from ..reporting.status import TROUBLE
from ..rewrite import Around, Collision, Drift, Target
from ..rewrite.target import matcher
from .compiled import compiled_frames, has_any_left
from .fixing import FixedCallable, TargetReplaced, fix, is_replaced
from .hooks import is_loading, module_object
from .wrapping import ChangedPlaces, wrap_collision


class Owner(Protocol):
    """The session, which decides which patches are wanted."""

    def armed(self) -> Iterable[ArmedPatch]:
        """Return the patches that are wanted, the earliest first."""

    def is_armed(self, patch: ArmedPatch) -> bool:
        """Tell whether a patch is wanted now."""

    def is_armed_or_suspended(self, patch: ArmedPatch) -> bool:
        """Tell whether it is wanted, now or again at the end of a block of `patched`."""


@cached_lookup
def _loaded_with_prefix(prefix: str) -> list[str]:
    """Return the names in `sys.modules` with a prefix."""
    return [name for name in list(sys.modules) if name.startswith(prefix)]


@cached_lookup
def _loaded(pattern: str) -> list[str]:
    """Return the names in `sys.modules` that a pattern matches."""
    prefix = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return [name for name in _loaded_with_prefix(prefix) if matcher(pattern)(name)]


@dataclass(eq=False, repr=False)
class ArmedTarget:
    """One change of a patch.

    Args:
        change: what is done.
        target: where; wildcards stand for whatever matches when it is imported.
        absent: why there is no such module; empty where there is, or for wildcards.
        kept_as: the name under which results of its rule are kept, or nothing.
    """

    change: Change
    target: Target
    absent: str = ""
    kept_as: str = ""

    @property
    def is_optional(self) -> bool:
        """True for a wildcard: where it finds nothing to fix, that is no drift."""
        return self.target.is_glob

    def concerns(self, module: str) -> bool:
        """Tell whether this change is to be made in a module, by its name."""
        return not self.absent and bool(matcher(self.target.module)(module))


class FixOutcome(NamedTuple):
    """The result of one change in one module.

    Args:
        status: applied, drifted or failed; `not-affected` where a wildcard found nothing to fix;
            pending where it was not tried yet.
        reason: why it drifted or failed; who made the copy that it is applied in.
        error: the exception behind a failure.
        rival: the patch that it collided with.
        replaced: whether it drifted because another tool put something else there.
        callables: the live callables that were changed.
    """

    status: Status
    reason: str = ""
    error: Exception | None = None
    rival: str = ""
    replaced: bool = False
    callables: tuple[FixedCallable, ...] = ()


_PENDING = FixOutcome(Status.PENDING)


class Attempt:
    """All changes of a patch in one module object: all of them hold, or none was made.

    It claims what it puts into functions. The claims count from the moment it is committed, which
    is the one step that makes it so.
    """

    def __init__(self, patch: ArmedPatch, module: ModuleType) -> None:
        self.patch = patch
        self.module = weakref.ref(module)
        self.outcomes: dict[ArmedTarget, FixOutcome] = {}
        self.compiled_before = compiled_frames()
        self.committed = False

    @property
    def is_valid(self) -> bool:
        return self.committed and self.patch.owner.is_armed(self.patch)

    @property
    def is_over(self) -> bool:
        return not self.committed or not self.patch.owner.is_armed_or_suspended(self.patch)

    @property
    def callables(self) -> list[FixedCallable]:
        return [fixed for outcome in self.outcomes.values() for fixed in outcome.callables]

    def is_missed_by_torch(self) -> bool:
        """Tell whether torch still has something that it compiled before this was fixed."""
        return bool(self.callables) and has_any_left(self.compiled_before)

    def is_whole(self) -> bool:
        """Tell whether everything holds that could be made to hold."""
        return all(
            outcome.status in (Status.APPLIED, Status.NOT_AFFECTED)
            and all(fixed.is_live() for fixed in outcome.callables)
            for outcome in self.outcomes.values()
        )


class TargetLookup(NamedTuple):
    """A patch compared with the installed versions.

    Args:
        resolution: whether it is due, and which of its changes; None if that is unknown.
        problem: why it is unknown.
        targets: one for each change that is due.
        by_name: those in modules that they name, by the module; hundreds are asked about.
        wildcards: the others.
        wrapped: what it puts wrappers around, which each wrapper of any patch is compared with.
    """

    resolution: Resolution | None
    problem: ValueError | None = None
    targets: tuple[ArmedTarget, ...] = ()
    by_name: Mapping[str, list[ArmedTarget]] = MappingProxyType({})
    wildcards: tuple[ArmedTarget, ...] = ()
    wrapped: frozenset[Target] = frozenset()


@dataclass(eq=False, repr=False)
class ArmedPatch:
    """A patch that is wanted.

    Args:
        entry: the patch.
        owner: who knows whether it is still wanted.
        attempts: what was tried, by the names of modules.
    """

    entry: Entry
    owner: Owner
    attempts: dict[str, Attempt] = field(default_factory=dict)
    _lookup: TargetLookup | None = None

    @property
    def id(self) -> str:
        return self.entry.patch.id

    @cached_property
    def packages(self) -> frozenset[str]:
        """The top-level packages that its changes are in."""
        return self.entry.patch.packages

    @property
    def has_imported_package(self) -> bool:
        # The set's own method would go through all of `sys.modules`, which another thread changes.
        return not sys.modules.keys().isdisjoint(self.packages)

    @property
    def is_looked_up(self) -> bool:
        return self._lookup is not None

    def look_up(self) -> TargetLookup:
        """Compare it with what is installed, once. To be called while no lock is held."""
        if self._lookup is None:
            self._lookup = self._compare_with_installed()
        return self._lookup

    def _compare_with_installed(self) -> TargetLookup:
        patch = self.entry.patch
        try:
            resolution = resolve(patch)
        except ValueError as problem:
            return TargetLookup(None, problem)
        targets = []
        by_name: dict[str, list[ArmedTarget]] = {}
        for change in resolution.changes:
            target = Target.parse(change.target)
            absent = ""
            if not target.is_glob and module_is_absent(target.module):
                absent = f"{patch.library} {resolution.version} has no module {target.module}"
            armed = ArmedTarget(change, target, absent, self._kept_as(change))
            targets.append(armed)
            if not target.module_is_glob and not absent:
                by_name.setdefault(target.module, []).append(armed)
        wildcards = tuple(armed for armed in targets if armed.target.module_is_glob)
        wrapped = frozenset(armed.target for armed in targets if isinstance(armed.change, Wrap))
        return TargetLookup(resolution, None, tuple(targets), by_name, wildcards, wrapped)

    def _kept_as(self, change: Change) -> str:
        """Name one change of the patch, in the present state of its files."""
        number = self.entry.patch.changes.index(change)
        state = self.entry.kept_as
        return f"{self.id}/{number}/{state}" if state else ""

    @property
    def is_due(self) -> bool:
        resolution = self.look_up().resolution
        return resolution is not None and resolution.verdict is None

    def forget_absent_modules(self) -> None:
        """Forget that a module is absent: it may have been installed since."""
        if any(target.absent for target in self.look_up().targets):
            self._lookup = None

    @property
    def targets(self) -> tuple[ArmedTarget, ...]:
        return self.look_up().targets

    def targets_in(self, name: str) -> list[ArmedTarget]:
        found = self.look_up()
        if any(target.concerns(name) for target in found.wildcards):
            return [target for target in found.targets if target.concerns(name)]
        return found.by_name.get(name, [])

    def concerned(self, modules: Set[str]) -> Set[str]:
        """Return those of these modules that it has targets in."""
        found = self.look_up()
        matched = {name for name in modules for each in found.wildcards if each.concerns(name)}
        return matched | (found.by_name.keys() & modules)

    def wraps(self, target: Target) -> bool:
        """Tell whether it puts a wrapper around this very target."""
        return self.is_due and target in self.look_up().wrapped

    def present_modules(self) -> Iterator[str]:
        """Return the modules of its targets that `sys.modules` has, executed or not."""
        names: dict[str, None] = {}
        for target in self.targets:
            if target.target.module_is_glob:
                names.update(dict.fromkeys(_loaded(target.target.module)))
            elif target.target.module in sys.modules:
                names[target.target.module] = None
        return iter(names)

    def attempt_in(self, name: str) -> Attempt | None:
        """Return what was tried with the module that is there now."""
        module = module_object(name)
        return None if module is None else self._attempt_with(name, module)

    def is_well_in(self, name: str) -> bool:
        """Tell whether all was tried with the module that is there now, and nothing went wrong."""
        attempt = self.attempt_in(name)
        return attempt is not None and not any(
            outcome.status in TROUBLE for outcome in attempt.outcomes.values()
        )

    def _attempt_with(self, name: str, module: ModuleType) -> Attempt | None:
        attempt = self.attempts.get(name)
        if attempt is None or attempt.module() is not module or not attempt.committed:
            return None
        return attempt

    def _commit(self, name: str, attempt: Attempt) -> None:
        self.attempts[name] = attempt
        attempt.committed = True

    def go_back_to(self, attempts: dict[str, Attempt]) -> None:
        """Let all attempts but these be over."""
        for name, attempt in self.attempts.items():
            if attempts.get(name) is not attempt:
                attempt.committed = False
        self.attempts = attempts

    def fix_loaded(self, places: ChangedPlaces) -> bool:
        """Fix all that is loaded and does not hold; tell whether anything was fixed."""
        changed = False
        for name in self.present_modules():
            module = executed_module(name)
            if module is not None:
                recheck = any(target.is_optional for target in self.targets_in(name))
                changed |= self.fix_module(name, module, places, recheck=recheck)
        return changed

    def fix_module(
        self, name: str, module: ModuleType, places: ChangedPlaces, *, recheck: bool = False
    ) -> bool:
        """Make all changes in an executed module or, if one of them cannot be made, none.

        If `recheck`, look once more even where everything holds: a wildcard may find more now.

        Returns:
            whether anything was fixed.
        """
        before = self._attempt_with(name, module)
        if before is not None and before.is_whole() and not recheck:
            return False
        targets = self.targets_in(name)
        if not targets:
            return False
        attempt = Attempt(self, module)
        attempt.compiled_before = places.frames.get(name, attempt.compiled_before)
        taken: set[tuple[int, object]] = set()
        earlier = before.outcomes if before else {}
        culprit = targets[0]
        try:
            for culprit in targets:
                self._check_rivals(culprit)
                previous = earlier.get(culprit, _PENDING).callables
                live = tuple(fixed for fixed in previous if fixed.is_live())
                current = fix(
                    self.id, culprit.change, module, places, attempt, live, taken, culprit.kept_as
                )
                attempt.outcomes[culprit] = _outcome(culprit, current, previous)
        except Exception as error:
            # Nobody claims what this attempt has put in place: it is not committed.
            places.settle()
            if before is not None and before.callables:
                return False  # what was applied and then replaced is overridden, and stays so
            attempt.outcomes = _failed_outcomes(targets, culprit, error)
        if before is not None and before.is_whole() and attempt.callables == before.callables:
            return False  # a wildcard was looked at once more, and found nothing new
        self._commit(name, attempt)
        if _drop_superseded_wrappers(attempt, earlier.values()):
            places.settle()
        known = {id(fixed) for outcome in earlier.values() for fixed in outcome.callables}
        return any(id(fixed) not in known for fixed in attempt.callables)

    def give_up(self, name: str, module: ModuleType, error: Exception) -> None:
        """Record that an error of patchkit prevented all changes in a module."""
        targets = self.targets_in(name)
        attempt = Attempt(self, module)
        attempt.outcomes = _failed_outcomes(targets, targets[0], error) if targets else {}
        self._commit(name, attempt)

    def _check_rivals(self, target: ArmedTarget) -> None:
        """Raise Collision where a patch that came first wraps the same callable."""
        if not isinstance(target.change, Wrap):
            return
        for other in self.owner.armed():
            if other is self:
                return
            if other.wraps(target.target):
                raise wrap_collision(other.id, self.id, target.target.qualname)

    def copies(self) -> tuple[FixedCallable, ...]:
        """Return what others have copied with its changes, and put in the place of a target."""
        return tuple(
            fixed
            for _, _, outcome in (self.observe() if self.is_looked_up else ())
            for fixed in outcome.callables
            if outcome.status is Status.APPLIED and outcome.reason
        )

    def is_missed_by_torch(self) -> bool:
        """Tell whether torch has compiled what it fixes, perhaps, before it did."""
        attempts = map(self.attempt_in, list(self.attempts))
        return any(attempt.is_missed_by_torch() for attempt in attempts if attempt is not None)

    def observe(self) -> Iterator[tuple[str, ArmedTarget, FixOutcome]]:
        """Yield the present state of its targets, read off the live objects.

        Yields:
            the place as `module:qualname`, the change, and its outcome there.
        """
        for target in self.targets:
            name = target.target.module
            if not target.target.module_is_glob:
                outcome = self._outcome_at(target, name)
                yield from self._observations(target, name, outcome)
                continue
            for name in sorted(self.attempts):
                attempt = self.attempt_in(name)
                if attempt is not None and target in attempt.outcomes:
                    outcome = self._current_outcome(name, target, attempt.outcomes[target])
                    if outcome.status is not Status.PENDING:
                        yield from self._observations(target, name, outcome)

    def _outcome_at(self, target: ArmedTarget, name: str) -> FixOutcome:
        if target.absent:
            return FixOutcome(Status.DRIFTED, target.absent)
        if name in sys.modules and module_object(name) is None:
            cls = type(sys.modules[name])
            reason = f"sys.modules has a {cls.__name__} in the place of the module {name}"
            return FixOutcome(Status.DRIFTED, reason, replaced=True)
        attempt = self.attempt_in(name)
        if attempt is not None and target in attempt.outcomes:
            return self._current_outcome(name, target, attempt.outcomes[target])
        try:
            for sibling in self.targets_in(name):
                self._check_rivals(sibling)
        except Collision as error:
            return _failed_outcomes(self.targets_in(name), sibling, error)[target]
        if executed_module(name) is not None:
            return FixOutcome(Status.PENDING, "its module is loaded; patchkit.apply() fixes it now")
        return _PENDING

    def _current_outcome(self, name: str, target: ArmedTarget, outcome: FixOutcome) -> FixOutcome:
        """Return an outcome, or pending where what was in the way is gone."""
        if outcome.rival and all(patch.id != outcome.rival for patch in self.owner.armed()):
            return _PENDING
        module = module_object(name)
        if (
            outcome.replaced
            and module is not None
            and not target.is_optional
            and not is_replaced(module, target.target.qualname)
        ):
            reason = "whatever replaced it is gone; patchkit.apply() fixes it now"
            return FixOutcome(Status.PENDING, reason)
        return outcome

    @staticmethod
    def _observations(
        target: ArmedTarget, name: str, outcome: FixOutcome
    ) -> Iterator[tuple[str, ArmedTarget, FixOutcome]]:
        if not outcome.callables:
            if outcome.status is Status.NOT_AFFECTED:
                return
            if target.is_optional and outcome.status is Status.PENDING:
                return
            yield str(target.target.in_module(name)), target, outcome
        for fixed in outcome.callables:
            maker = "" if fixed.is_live() else fixed.copied_by()
            status = Status.APPLIED if maker or fixed.is_live() else Status.OVERRIDDEN
            reason = f"in a copy that {maker} made" if maker else ""
            yield f"{name}:{fixed.qualname}", target, FixOutcome(status, reason, callables=(fixed,))


def _outcome(
    target: ArmedTarget, current: list[FixedCallable], previous: tuple[FixedCallable, ...]
) -> FixOutcome:
    """Return the outcome of a change, with what was fixed before and has been replaced since."""
    names = {fixed.qualname for fixed in current}
    callables = (*current, *(fixed for fixed in previous if fixed.qualname not in names))
    unaffected = target.is_optional and isinstance(target.change, Rewrite) and not callables
    return FixOutcome(Status.NOT_AFFECTED if unaffected else Status.APPLIED, callables=callables)


def _drop_superseded_wrappers(attempt: Attempt, earlier: Iterable[FixOutcome]) -> bool:
    """Drop the wrapper of a callable that was replaced by one that is wrapped now.

    The new one may call the old one, and a wrapper is to run once.

    Returns:
        whether there was any.
    """
    dropped = False
    wrapped = {
        fixed.qualname: fixed for fixed in attempt.callables if isinstance(fixed.piece, Around)
    }
    for old in (fixed for outcome in earlier for fixed in outcome.callables):
        new = wrapped.get(old.qualname)
        if new is not None and new.place is not old.place:
            old.place.claims = [claim for claim in old.place.claims if claim.piece is not old.piece]
            dropped = True
    return dropped


def _failed_outcomes(
    targets: list[ArmedTarget], culprit: ArmedTarget, error: Exception
) -> dict[ArmedTarget, FixOutcome]:
    """Return the outcomes where one target could not be fixed, so that none was."""
    status, rival, reason, failure = Status.DRIFTED, "", str(error), None
    if isinstance(error, Collision):
        rival = error.owners[0]
    elif not isinstance(error, Drift):
        status, reason, failure = Status.FAILED, f"{type(error).__name__}: {error}", error
    replaced = isinstance(error, TargetReplaced)
    return {
        target: FixOutcome(
            status,
            reason if target is culprit else f"left alone, because {reason}",
            failure if target is culprit else None,
            rival,
            replaced and target is culprit,
        )
        for target in targets
    }


def executed_module(name: str) -> ModuleType | None:
    """Return a module that has been executed."""
    module = module_object(name)
    return None if module is None or is_loading(module) else module
