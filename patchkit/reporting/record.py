"""One patch in this process: what became of it and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..patch import Patch, Status, call

if TYPE_CHECKING:
    from ..matrix import Tested


@dataclass(frozen=True)
class TargetRecord:
    """One place that a patch mends.

    Args:
        target: `module:qualname`.
        status: `pending`, `applied`, `drifted`, `overridden` or `failed`.
        reason: why, where it is not applied.
    """

    target: str
    status: Status
    reason: str = ""


@dataclass(frozen=True)
class PatchRecord:
    """One patch in this process.

    Args:
        id: the patch.
        title: what is so once it is applied.
        library: the distribution that it mends.
        version: the installed version of it; None where it is absent.
        affects: distribution to PEP 440 range.
        status: what became of it.
        reason: why, in one sentence.
        targets: the places it mends here.
        upstream: links to the reports and fixes.
        error: the exception behind `failed`.
        rival: the patch that changes the same place, where that is why it drifted.
        replaced: whether it drifted because somebody put another function in the target's place.
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
    _patch: Patch | None = field(default=None, repr=False, compare=False)
    _diffs: tuple[object, ...] = field(default=(), repr=False, compare=False)

    def diff(self) -> str:
        """A unified diff of each function as it was and as it is.

        Where the patch is not applied, as it would be; empty where it is not due.
        """
        if made := self.diff_made():
            return made
        if self._patch is None or self.status in (Status.NOT_INSTALLED, Status.NOT_AFFECTED):
            return ""
        from ..matrix.preview import preview

        try:
            return str(preview(self._patch))
        except Exception as error:
            return f"# no diff can be made: {type(error).__name__}: {error}\n"

    def diff_made(self) -> str:
        """A unified diff of what is changed now; empty where nothing is."""
        return "".join(map(str, self._diffs))

    @cached_property
    def tested(self) -> Tested:
        """What the compatibility matrix says of this patch on what is installed."""
        from ..matrix import installed_versions, look_up

        here = {self.library: self.version} if self.version else {}
        return look_up(self.id, self.library, {**installed_versions(), **here})

    @property
    def opt_in(self) -> str:
        """The keyword of `apply` that asks for it, where nobody gets it unasked."""
        return self._patch.opt_in if self._patch else ""

    @property
    def advice(self) -> str:
        """What to do about it; empty where there is nothing to be done."""
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
            "targets": [
                {"target": one.target, "status": one.status.value, "reason": one.reason}
                for one in self.targets
            ],
            "upstream": list(self.upstream),
            "tested": self.tested.to_dict(),
            "error": repr(self.error) if self.error else None,
            "advice": self.advice,
        }


def with_status(records: Iterable[PatchRecord], *statuses: Status | str) -> list[PatchRecord]:
    """Return the records that have one of these statuses."""
    wanted = {str(status) for status in statuses}
    return [record for record in records if str(record.status) in wanted]


def _advice(one: PatchRecord) -> str:
    """Return what its reader can do about a patch; empty where there is nothing to be done."""
    if one.status is Status.FAILED and not one.affects and isinstance(one.error, UsageError):
        return "correct PATCHKIT_PATCHES, or unset it; all other patches work"
    if one.status is Status.FAILED and not one.affects:
        return "mend that patch file, or uninstall what brings it; all other patches work"
    if one.status is Status.FAILED:
        return (
            f"`PATCHKIT_DISABLE={one.id}` goes without it; please report it to patchkit with "
            f'the exception in report()["{one.id}"].error'
        )
    if one.status is Status.DRIFTED and one.rival:
        return f"leave one of the two out: `PATCHKIT_DISABLE={one.id}`, or `={one.rival}`"
    if one.status is Status.DRIFTED and one.replaced:
        return (
            "call patchkit.apply() before whatever replaced it, or leave the patch out: "
            f"`PATCHKIT_DISABLE={one.id}`"
        )
    if one.status is Status.DRIFTED:
        return (
            f"`patchkit verify {one.id}` shows whether the bug is still there. If it is, install "
            f"a release of {one.library} that `patchkit matrix show {one.id}` lists, and report "
            f"the drift to patchkit; if not, `PATCHKIT_DISABLE={one.id}` keeps it quiet"
        )
    if one.status is Status.OVERRIDDEN:
        return (
            "call patchkit.apply() again after whatever replaced it. Where that does not mend what "
            "is there now, it has no such code, or it calls the mended original"
        )
    if one.status is Status.AVAILABLE:
        return f"{call(one.opt_in)} applies it"
    return ""
