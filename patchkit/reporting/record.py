"""The record of one patch in this process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import UnreadableVersion, UsageError
from ..patch import Patch, Status, apply_call
from .status import CONCERNED

if TYPE_CHECKING:
    from ..catalogue.resolution import Resolution
    from ..matrix.lookup import Tested


CORRECT_THE_ENVIRONMENT = "correct that variable, or unset it; until then apply() raises this"
"""The advice where the environment lets no call of `apply` succeed."""


@dataclass(frozen=True)
class TargetRecord:
    """One place that a patch fixes.

    Args:
        target: `module:qualname`.
        status: `pending`, `applied`, `drifted`, `overridden` or `failed`.
        reason: why, if it is not applied; who made the copy that it is applied in, if it is one.
    """

    target: str
    status: Status
    reason: str = ""


@dataclass(frozen=True)
class PatchRecord:
    """One patch in this process.

    Args:
        id: the patch.
        title: the behaviour once it is applied.
        library: the distribution it fixes.
        version: its installed version; None if it is absent.
        affects: distribution to PEP 440 range.
        status: its status.
        reason: why, in one sentence.
        targets: the places it fixes here.
        upstream: links to the reports and fixes.
        error: the exception behind `failed`.
        rival: the patch that changes the same place, if it drifted for that reason.
        replaced: whether it drifted because someone put another function in the target's place.
        refusal: why the environment lets no call of `apply` succeed; empty if it does.
    """

    id: str
    title: str
    library: str
    version: str | None
    affects: dict[str, str]
    status: Status
    reason: str
    targets: tuple[TargetRecord, ...]
    upstream: tuple[str, ...]
    error: Exception | None = field(default=None, repr=False)
    rival: str = ""
    replaced: bool = False
    refusal: str = ""
    _patch: Patch | None = field(default=None, repr=False, compare=False)
    _diffs: tuple[object, ...] = field(default=(), repr=False, compare=False)
    _resolution: Resolution | None = field(default=None, repr=False, compare=False)

    def diff(self) -> str:
        """Return a unified diff of each function, before and after the patch.

        If the patch is not applied, the diff shows what it would change; empty if it is not due.
        """
        if made := self.diff_made():
            return made
        if self._patch is None or not (self.status in CONCERNED or self.status is Status.DISABLED):
            return ""
        from ..matrix.preview import preview

        try:
            return str(preview(self._patch))
        except Exception as error:
            return f"# no diff can be made: {type(error).__name__}: {error}\n"

    def diff_made(self) -> str:
        """Return a unified diff of what is changed now; empty if nothing is."""
        return "".join(map(str, self._diffs))

    @cached_property
    def tested(self) -> Tested:
        """The entry of the compatibility matrix for this patch on the installed versions."""
        from ..matrix.lookup import installed_versions, look_up

        here = {self.library: self.version} if self.version else {}
        return look_up(self.id, self.library, {**installed_versions(), **here})

    def within_measurements(self) -> PatchRecord:
        """Return the record, with `untested` for `not-affected` on unmeasured versions.

        This may read the matrix: do not call it while a lock is held.
        """
        if self.status is not Status.NOT_AFFECTED or not (self._patch and self._resolution):
            return self
        from ..matrix.lookup import reason_untested

        reason = reason_untested(self._patch, self._resolution)
        return replace(self, status=Status.UNTESTED, reason=reason) if reason else self

    def measured_from(self) -> tuple[str, str]:
        """Return the library that is too old for an `untested` patch, and its oldest measured."""
        from ..matrix.lookup import oldest_measured

        assert self._patch
        assert self._resolution
        library, version = self._resolution.older
        return library, oldest_measured(self._patch, library, version) or version

    @property
    def opt_in(self) -> str:
        """The keyword of `apply` that turns an opt-in patch on; empty for all others."""
        return self._patch.opt_in if self._patch else ""

    @property
    def advice(self) -> str:
        """The next step for the reader; empty if there is nothing to do."""
        return _advice(self)

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "library": self.library,
            "version": self.version,
            "affects": dict(self.affects),
            "status": self.status.value,
            "reason": self.reason,
            "targets": [{**vars(target), "status": target.status.value} for target in self.targets],
            "upstream": list(self.upstream),
            "tested": self.tested.to_dict(),
            "error": repr(self.error) if self.error else None,
            "advice": self.advice,
        }


def with_status(records: Iterable[PatchRecord], *statuses: Status | str) -> list[PatchRecord]:
    wanted = {str(status) for status in statuses}
    return [record for record in records if str(record.status) in wanted]


def _advice(record: PatchRecord) -> str:
    status, disable = record.status, f"`PATCHKIT_DISABLE={record.id}`"
    if status is Status.FAILED and not record.affects and isinstance(record.error, UsageError):
        return "correct PATCHKIT_PATCHES, or unset it; all other patches work"
    if status is Status.FAILED and not record.affects:
        return "fix that patch file, or uninstall the package it came with; all other patches work"
    if isinstance(record.error, UnreadableVersion):
        return f"{record.error.advice}; until then nothing is known of its bugs"
    if status is Status.FAILED:
        return (
            f"{disable} leaves it out; please report it to patchkit with the exception in "
            f'report()["{record.id}"].error'
        )
    if status is Status.DRIFTED and record.rival:
        return f"leave one of the two out: {disable}, or `={record.rival}`"
    if status is Status.DRIFTED and record.replaced:
        return (
            f"call patchkit.apply() before whatever replaced it, or leave the patch out: {disable}"
        )
    if status is Status.DRIFTED:
        return (
            f"`patchkit verify {record.id}` shows whether the bug is still there. If it is, "
            f"install a release of {record.library} that `patchkit matrix show {record.id}` lists, "
            f"and report the drift to patchkit; if not, {disable} silences this"
        )
    if status is Status.OVERRIDDEN:
        return (
            "call patchkit.apply() again after whatever replaced it. If that does not fix the "
            "replacement, it does not contain this code, or it calls the fixed original"
        )
    if status is Status.AVAILABLE and record.refusal:
        return CORRECT_THE_ENVIRONMENT
    if status is Status.AVAILABLE:
        return f"{apply_call(record.opt_in)} applies it"
    return ""
