"""A patch that somebody wants, and how far it has got in this process.

Nothing here says that a patch is applied: what was done is remembered with the module object and
the functions that it was done to, and whether it holds is read off `sys.modules` and them.
"""

from __future__ import annotations

import fnmatch
import re
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Protocol

from ..catalogue.entries import Entry
from ..catalogue.resolution import Resolution, resolve
from ..environment import module_is_absent
from ..patch import Change, Rewrite, Status, Wrap
from ..rewrite import Around, Collision, Drift, Target
from .compiled import are_still_there, compiled_frames
from .hooks import module_object, still_loading
from .mending import Mended, Replaced, is_replaced, mend
from .wrapping import Places, already_wrapped


class Owner(Protocol):
    """Who decides which patches are wanted."""

    def armed(self) -> Iterable[ArmedPatch]:
        """Return the patches that are wanted, those that came first in front."""

    def is_armed(self, patch: ArmedPatch) -> bool:
        """Tell whether a patch is wanted now."""

    def is_kept(self, patch: ArmedPatch) -> bool:
        """Tell whether it is wanted, or is to come back."""


@dataclass(frozen=True, eq=False)
class ArmedTarget:
    """One change of a patch.

    Args:
        change: what is done.
        target: where; wildcards stand for whatever matches when it is imported.
        absent: why there is no such module; empty where there is, or for wildcards.
    """

    change: Change
    target: Target
    absent: str = ""

    @property
    def optional(self) -> bool:
        """Whether it was found by a wildcard, so that nothing to mend is no drift."""
        return self.target.is_glob

    @cached_property
    def _matches(self) -> Callable[[str], object]:
        return re.compile(fnmatch.translate(self.target.module)).match

    @cached_property
    def _prefix(self) -> str:
        return re.split(r"[*?\[]", self.target.module, maxsplit=1)[0]

    def among(self, modules: Iterable[str]) -> list[str]:
        """Return those of thousands of modules that a target with wildcards concerns."""
        prefix, matches = self._prefix, self._matches
        return [name for name in modules if name.startswith(prefix) and matches(name)]

    def concerns(self, module: str) -> bool:
        """Tell whether this change is to be made in a module, by its name."""
        if not self.target.module_is_glob:
            return module == self.target.module and not self.absent
        return bool(self.among((module,)))


@dataclass(frozen=True)
class Outcome:
    """What came of one change in one module.

    Args:
        status: applied, drifted or failed; `not-affected` where a wildcard found nothing to mend;
            pending where it was not tried yet.
        reason: why it drifted or failed.
        error: the exception behind a failure.
        rival: the patch that it collided with.
        replaced: whether it drifted because somebody put something else there.
        mended: the live callables that were changed.
    """

    status: Status
    reason: str = ""
    error: Exception | None = None
    rival: str = ""
    replaced: bool = False
    mended: tuple[Mended, ...] = ()


_PENDING = Outcome(Status.PENDING)


class Attempt:
    """All changes of a patch in one module object: all of them hold, or none was made.

    It claims what it puts into functions. The claims count from the moment it is committed, which
    is the one step that makes it so.

    Args:
        patch: the patch.
        module: the module.
    """

    def __init__(self, patch: ArmedPatch, module: ModuleType) -> None:
        self.patch = patch
        self.module = weakref.ref(module)
        self.outcomes: dict[ArmedTarget, Outcome] = {}
        self.compiled_before = compiled_frames()
        self.committed = False

    @property
    def valid(self) -> bool:
        return self.committed and self.patch.owner.is_armed(self.patch)

    @property
    def over(self) -> bool:
        return not self.committed or not self.patch.owner.is_kept(self.patch)

    @property
    def mended(self) -> list[Mended]:
        return [each for outcome in self.outcomes.values() for each in outcome.mended]

    def missed_by_torch(self) -> bool:
        """Tell whether torch still has something that it compiled before this was mended."""
        return bool(self.mended) and are_still_there(self.compiled_before)

    def is_whole(self) -> bool:
        """Tell whether everything holds that could be made to hold."""
        return all(
            outcome.status in (Status.APPLIED, Status.NOT_AFFECTED)
            and all(each.live() for each in outcome.mended)
            for outcome in self.outcomes.values()
        )


@dataclass(frozen=True)
class LookedUp:
    """What the installed versions say of a patch.

    Args:
        resolution: whether it is due, and which of its changes; None where that cannot be told.
        problem: why it cannot.
        targets: one for each change that is due.
    """

    resolution: Resolution | None
    problem: ValueError | None = None
    targets: tuple[ArmedTarget, ...] = ()


@dataclass(eq=False)
class ArmedPatch:
    """A patch that somebody wants.

    Args:
        entry: the patch.
        owner: who knows whether it is still wanted.
        attempts: what was tried, by the names of modules.
    """

    entry: Entry
    owner: Owner
    attempts: dict[str, Attempt] = field(default_factory=dict)
    _looked_up: LookedUp | None = None

    @property
    def id(self) -> str:
        return self.entry.patch.id

    @cached_property
    def packages(self) -> frozenset[str]:
        """The top-level packages that its changes are in."""
        changes = self.entry.patch.changes
        return frozenset(change.target.partition(":")[0].partition(".")[0] for change in changes)

    @property
    def is_looked_up(self) -> bool:
        return self._looked_up is not None

    def look_up(self) -> LookedUp:
        """Compare it with what is installed, once. To be called while no lock is held."""
        if self._looked_up is None:
            self._looked_up = self._look()
        return self._looked_up

    def _look(self) -> LookedUp:
        patch = self.entry.patch
        try:
            resolution = resolve(patch)
        except ValueError as problem:
            return LookedUp(None, problem)
        targets = []
        for change in resolution.changes:
            target = Target.parse(change.target)
            absent = ""
            if not target.is_glob and module_is_absent(target.module):
                absent = f"{patch.library} {resolution.version} has no module {target.module}"
            targets.append(ArmedTarget(change, target, absent))
        return LookedUp(resolution, None, tuple(targets))

    @property
    def is_due(self) -> bool:
        resolution = self.look_up().resolution
        return resolution is not None and resolution.verdict is None

    def look_again(self) -> None:
        """Forget that a module is absent: somebody may have installed it since."""
        if any(target.absent for target in self.look_up().targets):
            self._looked_up = None

    @property
    def targets(self) -> tuple[ArmedTarget, ...]:
        return self.look_up().targets

    def in_module(self, name: str) -> list[ArmedTarget]:
        return [target for target in self.targets if target.concerns(name)]

    def wraps(self, target: Target) -> bool:
        """Tell whether it puts a wrapper around this very target."""
        return self.is_due and any(
            isinstance(each.change, Wrap) and each.target == target for each in self.targets
        )

    def present_modules(self) -> Iterator[str]:
        """Return the modules of its targets that `sys.modules` has, executed or not."""
        names: dict[str, None] = {}
        for target in self.targets:
            if target.target.module_is_glob:
                names.update(dict.fromkeys(target.among(list(sys.modules))))
            elif target.target.module in sys.modules:
                names[target.target.module] = None
        return iter(names)

    def attempt_in(self, name: str) -> Attempt | None:
        """Return what was tried with the module that is there now."""
        module = module_object(name)
        return None if module is None else self._attempt_with(name, module)

    def _attempt_with(self, name: str, module: ModuleType) -> Attempt | None:
        attempt = self.attempts.get(name)
        if attempt is None or attempt.module() is not module or not attempt.committed:
            return None
        return attempt

    def _commit(self, name: str, attempt: Attempt) -> None:
        self.attempts[name] = attempt
        attempt.committed = True

    def mend_loaded(self, places: Places) -> bool:
        """Mend all that is loaded and does not hold; tell whether anything was mended."""
        changed = False
        for name in self.present_modules():
            module = loaded(name)
            if module is not None:
                again = any(target.optional for target in self.in_module(name))
                changed |= self.mend_module(name, module, places, again=again)
        return changed

    def mend_module(
        self, name: str, module: ModuleType, places: Places, *, again: bool = False
    ) -> bool:
        """Make all changes in one module, or, if one of them cannot be made, none of them.

        Args:
            name: its name in `sys.modules`.
            module: the module, executed.
            places: the record of all that is changed.
            again: whether to look once more where everything holds: what a wildcard did not find
                may be there now.

        Returns:
            whether anything was mended.
        """
        before = self._attempt_with(name, module)
        if before is not None and before.is_whole() and not again:
            return False
        targets = self.in_module(name)
        if not targets:
            return False
        attempt = Attempt(self, module)
        taken: set[tuple[int, object]] = set()
        known = before.outcomes if before else {}
        culprit = targets[0]
        try:
            for culprit in targets:
                self._check_rivals(culprit)
                earlier = known.get(culprit, _PENDING).mended
                kept = tuple(each for each in earlier if each.live())
                found = mend(self.id, culprit.change, module, places, attempt, kept, taken)
                attempt.outcomes[culprit] = _outcome(culprit, found, earlier)
        except Exception as error:
            # Nobody claims what this attempt has put in place: it is not committed.
            places.settle()
            if before is not None and before.mended:
                return False  # what was applied and came loose is overridden, and stays so
            attempt.outcomes = _given_up(targets, culprit, error)
        if before is not None and before.is_whole() and attempt.mended == before.mended:
            return False  # a wildcard was looked at once more, and found nothing new
        self._commit(name, attempt)
        if _retire(attempt, known.values()):
            places.settle()
        fresh = {id(each) for each in attempt.mended}
        return bool(fresh - {id(each) for outcome in known.values() for each in outcome.mended})

    def give_up(self, name: str, module: ModuleType, error: Exception) -> None:
        """Say of all changes in a module that an error of ours kept them from being made."""
        targets = self.in_module(name)
        attempt = Attempt(self, module)
        attempt.outcomes = _given_up(targets, targets[0], error) if targets else {}
        self._commit(name, attempt)

    def _check_rivals(self, target: ArmedTarget) -> None:
        """Raise Collision where a patch that came first wraps the same callable."""
        if not isinstance(target.change, Wrap):
            return
        for other in self.owner.armed():
            if other is self:
                return
            if other.wraps(target.target):
                raise already_wrapped(other.id, self.id, target.target.qualname)

    def is_missed_by_torch(self) -> bool:
        """Tell whether torch has compiled what it mends, perhaps, before it did."""
        attempts = map(self.attempt_in, list(self.attempts))
        return any(attempt.missed_by_torch() for attempt in attempts if attempt is not None)

    def observe(self) -> Iterator[tuple[str, ArmedTarget, Outcome]]:
        """Tell what has become of its targets, read off the live objects.

        Returns:
            the place as `module:qualname`, the change, and what came of it there.
        """
        for target in self.targets:
            name = target.target.module
            if not target.target.module_is_glob:
                outcome = self._observed(target, name)
                yield from self._places(target, name, outcome)
                continue
            for name in sorted(self.attempts):
                attempt = self.attempt_in(name)
                if attempt is not None and target in attempt.outcomes:
                    outcome = self._now(name, target, attempt.outcomes[target])
                    if outcome.status is not Status.PENDING:
                        yield from self._places(target, name, outcome)

    def _observed(self, target: ArmedTarget, name: str) -> Outcome:
        if target.absent:
            return Outcome(Status.DRIFTED, target.absent)
        if name in sys.modules and module_object(name) is None:
            kind = type(sys.modules[name]).__name__
            reason = f"sys.modules has a {kind} in the place of the module {name}"
            return Outcome(Status.DRIFTED, reason, replaced=True)
        attempt = self.attempt_in(name)
        if attempt is not None and target in attempt.outcomes:
            return self._now(name, target, attempt.outcomes[target])
        try:
            for sibling in self.in_module(name):
                self._check_rivals(sibling)
        except Collision as error:
            return _given_up(self.in_module(name), sibling, error)[target]
        if loaded(name) is not None:
            return Outcome(Status.PENDING, "its module is loaded; patchkit.apply() mends it now")
        return _PENDING

    def _now(self, name: str, target: ArmedTarget, outcome: Outcome) -> Outcome:
        """Return an outcome, or pending where what was in the way is gone."""
        armed = {patch.id for patch in self.owner.armed()}
        if outcome.rival and outcome.rival not in armed:
            return _PENDING
        module = module_object(name)
        if (
            outcome.replaced
            and module is not None
            and not target.optional
            and not is_replaced(module, target.target.qualname)
        ):
            reason = "what stood in its place is gone; patchkit.apply() mends it now"
            return Outcome(Status.PENDING, reason)
        return outcome

    @staticmethod
    def _places(
        target: ArmedTarget, name: str, outcome: Outcome
    ) -> Iterator[tuple[str, ArmedTarget, Outcome]]:
        if not outcome.mended:
            if outcome.status is Status.NOT_AFFECTED:
                return
            if target.optional and outcome.status is Status.PENDING:
                return
            yield str(target.target.in_module(name)), target, outcome
        for each in outcome.mended:
            status = Status.APPLIED if each.live() else Status.OVERRIDDEN
            yield f"{name}:{each.qualname}", target, Outcome(status, mended=(each,))


def _outcome(target: ArmedTarget, found: list[Mended], earlier: tuple[Mended, ...]) -> Outcome:
    """Return what came of a change, with what was mended before and has been replaced since."""
    present = {each.qualname for each in found}
    lost = [each for each in earlier if each.qualname not in present]
    mended = (*found, *lost)
    nothing = target.optional and isinstance(target.change, Rewrite) and not mended
    return Outcome(Status.NOT_AFFECTED if nothing else Status.APPLIED, mended=mended)


def _retire(attempt: Attempt, earlier: Iterable[Outcome]) -> bool:
    """Give up wrappers of what was replaced, where what replaced it is wrapped now.

    It may call what it replaced, and a wrapper is to run once.

    Returns:
        whether there was any.
    """
    given_up = False
    wrapped = {each.qualname: each for each in attempt.mended if isinstance(each.piece, Around)}
    for lost in (each for outcome in earlier for each in outcome.mended):
        present = wrapped.get(lost.qualname)
        if present is not None and present.place is not lost.place:
            lost.place.claims = [
                claim for claim in lost.place.claims if claim.piece is not lost.piece
            ]
            given_up = True
    return given_up


def _given_up(
    targets: list[ArmedTarget], culprit: ArmedTarget, error: Exception
) -> dict[ArmedTarget, Outcome]:
    """Return the outcomes where one target could not be mended, so that none was."""
    status, rival, reason, kept = Status.DRIFTED, "", str(error), None
    if isinstance(error, Collision):
        rival = error.owners[0]
    elif not isinstance(error, Drift):
        status, reason, kept = Status.FAILED, f"{type(error).__name__}: {error}", error
    replaced = isinstance(error, Replaced)
    return {
        target: Outcome(
            status,
            reason if target is culprit else f"left alone, because {reason}",
            kept if target is culprit else None,
            rival,
            replaced and target is culprit,
        )
        for target in targets
    }


def loaded(name: str) -> ModuleType | None:
    """Return a module that has been executed."""
    module = module_object(name)
    return None if module is None or still_loading(module) else module
