"""A patch that is due and wanted, and how far it has got in this process."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType

from .catalogue import Entry
from .environment import module_is_absent, modules_matching
from .hooks import still_loading
from .mending import Mended, Replaced, mend
from .patch import Change, Rewrite, Status, Wrap
from .resolution import Resolution
from .rewrite import CodeSwaps, Collision, Drift, Target
from .wrapping import already_wrapped


@dataclass
class ArmedTarget:
    """One change of a patch in one module.

    Args:
        change: what is done there.
        target: the target with its module spelled out.
        optional: whether the module was found by a wildcard, so that nothing to mend is no drift.
        status: pending, applied, drifted or failed; `not-affected` where an optional module turns
            out to have nothing to mend.
        reason: why it drifted or failed.
        error: the exception behind a failure.
        rival: the patch that it collided with.
        replaced: whether it drifted because somebody put another function there.
        mended: the live callables that carry the change.
    """

    change: Change
    target: Target
    optional: bool
    status: Status = Status.PENDING
    reason: str = ""
    error: Exception | None = None
    rival: str = ""
    replaced: bool = False
    mended: list[Mended] = field(default_factory=list)

    def status_now(self) -> Status:
        """The status, checked against the live objects."""
        if self.status is Status.APPLIED and not all(one.live() for one in self.mended):
            return Status.OVERRIDDEN
        return self.status

    def undo(self) -> None:
        for one in reversed(self.mended):
            one.undo()
        self.mended = []
        self.forget()

    def forget(self) -> None:
        """Begin anew: nothing is mended, and nothing has gone wrong yet."""
        self.status, self.reason, self.error = Status.PENDING, "", None
        self.rival, self.replaced = "", False


@dataclass(eq=False)
class ArmedPatch:
    """A patch with its targets spelled out for what is installed.

    Args:
        entry: the patch.
        resolution: what was installed when it was armed, and what of the patch is due there.
        strict: whether trouble at import time is raised into that import.
        targets: one for each change and module.
    """

    entry: Entry
    resolution: Resolution
    strict: bool
    targets: list[ArmedTarget]

    @classmethod
    def arm(cls, entry: Entry, resolution: Resolution, *, strict: bool) -> ArmedPatch:
        targets = []
        for change in resolution.changes:
            target = Target.parse(change.target)
            optional = target.is_glob
            for module in modules_matching(target.module):
                armed = ArmedTarget(change, target.in_module(module), optional)
                if not optional and module_is_absent(module):
                    armed.status = Status.DRIFTED
                    armed.reason = (
                        f"{entry.patch.library} {resolution.version} has no module {module}"
                    )
                targets.append(armed)
        return cls(entry, resolution, strict, targets)

    @property
    def id(self) -> str:
        return self.entry.patch.id

    @cached_property
    def wraps(self) -> list[ArmedTarget]:
        return [target for target in self.targets if isinstance(target.change, Wrap)]

    def waiting_for(self) -> Iterator[str]:
        """The modules whose import this patch waits for."""
        for target in self._pending():
            yield target.target.module

    def _pending(self) -> Iterator[ArmedTarget]:
        return (target for target in self.targets if target.status is Status.PENDING)

    def mend_loaded(self, swaps: CodeSwaps) -> bool:
        """Mend all pending targets whose module is loaded; whether any was."""
        changed = False
        for module in map(loaded, dict.fromkeys(self.waiting_for())):
            if module is not None:
                changed |= self.mend_module(module, swaps)
        return changed

    def mend_module(self, module: ModuleType, swaps: CodeSwaps) -> bool:
        """Mend all pending targets in one module, or, if one of them cannot be, none of them.

        Returns:
            whether anything was mended.
        """
        here = [one for one in self._pending() if one.target.module == module.__name__]
        for target in here:
            try:
                target.mended = mend(self.id, target.change, module, swaps)
            except Drift as error:
                self._give_up(here, target, Status.DRIFTED, str(error))
                target.replaced = isinstance(error, Replaced)
                return False
            except Collision as error:
                self._yield_to(error, here, target)
                return False
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                self._give_up(here, target, Status.FAILED, reason)
                target.error = error
                return False
        for target in here:
            optional = target.optional and isinstance(target.change, Rewrite)
            nothing = optional and not target.mended
            target.status = Status.NOT_AFFECTED if nothing else Status.APPLIED
        return any(target.mended for target in here)

    @staticmethod
    def _give_up(
        here: list[ArmedTarget],
        culprit: ArmedTarget,
        status: Status,
        reason: str,
    ) -> None:
        for target in here:
            target.undo()
            target.status = status
            target.reason = reason if target is culprit else f"left alone, because {reason}"

    @classmethod
    def _yield_to(cls, collision: Collision, here: list[ArmedTarget], culprit: ArmedTarget) -> None:
        cls._give_up(here, culprit, Status.DRIFTED, str(collision))
        for target in here:
            target.rival = collision.owners[0]

    def yield_wraps(self, others: Iterable[ArmedPatch]) -> None:
        """Give way where another patch wraps the same callable, or waits to do so.

        Found out from the definitions, before any module is loaded.
        """
        mine = [target for target in self.wraps if target.status is Status.PENDING]
        if not mine:
            return
        taken = {
            one.target: other.id
            for other in others
            for one in other.wraps
            if other is not self and one.status in (Status.APPLIED, Status.PENDING)
        }
        for target in mine:
            if rival := taken.get(target.target):
                collision = already_wrapped(rival, self.id, target.target.qualname)
                here = [one for one in self._pending() if one.target.module == target.target.module]
                self._yield_to(collision, here, target)

    def try_again(self, present: Collection[str]) -> None:
        """Let targets wait anew whose rival is gone.

        Args:
            present: the ids of all armed patches.
        """
        for target in self.targets:
            if target.rival and target.rival not in present:
                target.forget()

    def lay_aside(self) -> list[Mended]:
        """Take back what holds now, and remember the rest; what `take_up` must be given."""
        live = [one for target in self.targets for one in target.mended if one.live()]
        for one in reversed(live):
            one.undo()
        return live

    def take_up(self, laid_aside: list[Mended], swaps: CodeSwaps) -> None:
        """Put back what was laid aside, and mend what was imported meanwhile."""
        for one in laid_aside:
            one.redo()
        self.mend_loaded(swaps)

    def retry(self, swaps: CodeSwaps) -> bool:
        """Mend what has come loose: a module was reloaded, or a target put back.

        Where that cannot be done, the target stays overridden.
        """
        loose = [target for target in self.targets if target.status_now() is Status.OVERRIDDEN]
        before = [target.mended for target in loose]
        for target in loose:
            target.status, target.mended = Status.PENDING, []
        self.mend_loaded(swaps)
        changed = False
        for target, mended in zip(loose, before, strict=True):
            if target.mended:
                changed = True
                for one in mended:
                    one.undo()
            else:
                target.status, target.reason, target.mended = Status.APPLIED, "", mended
        return changed

    def undo(self) -> None:
        for target in reversed(self.targets):
            target.undo()


def loaded(name: str) -> ModuleType | None:
    """A module that has finished loading."""
    module = sys.modules.get(name)
    return None if module is None or still_loading(module) else module
