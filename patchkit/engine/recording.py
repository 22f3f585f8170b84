"""Records of patches in this process, read off the live objects."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import FunctionType

from ..catalogue.entries import Broken, Entry
from ..catalogue.resolution import Resolution, resolve
from ..patch import Patch, Status, apply_call
from ..reporting.record import PatchRecord, TargetRecord
from ..reporting.status import worst
from ..rewrite import Drift, bind
from ..text import plural
from .armed import ArmedPatch, FixOutcome
from .compiled import ADVICE
from .fixing import FixedCallable

_NAMED = 8
"""Most targets that a sentence names; the record has all of them."""


def patch_record(
    entry: Entry,
    armed: ArmedPatch | None,
    disabled: str | None,
    refusal: str = "",
    copies: Iterable[FixedCallable] = (),
) -> PatchRecord:
    """Return the record of one patch.

    Args:
        entry: the patch.
        armed: the patch, if it is wanted.
        disabled: why the last `apply` left it out.
        refusal: why the environment lets no `apply` succeed.
        copies: what a `revert` could not undo.
    """
    patch = entry.patch
    resolution: Resolution | None = None
    error: Exception | None = None
    rival, replaced = "", False
    targets: tuple[TargetRecord, ...] = ()
    diffs: tuple[object, ...] = ()
    try:
        resolution = _resolution(patch, armed)
        version = resolution.version
    except ValueError as problem:
        version, status, reason, error = None, Status.FAILED, str(problem), problem
    else:
        if resolution.verdict is not None:
            status, reason = resolution.verdict, resolution.reason
        elif armed is not None:
            observed = list(armed.observe())
            outcomes = [outcome for _, _, outcome in observed]
            targets = tuple(_target_record(place, outcome) for place, _, outcome in observed)
            status, reason = _summarize(targets)
            if status is Status.APPLIED and armed.is_missed_by_torch():
                reason = f"{reason}; {ADVICE}"
            error = next((outcome.error for outcome in outcomes if outcome.error), None)
            rival = next((outcome.rival for outcome in outcomes if outcome.rival), "")
            replaced = any(outcome.replaced for outcome in outcomes)
            diffs = tuple(
                dict.fromkeys(fixed.shown for outcome in outcomes for fixed in outcome.callables)
            )
        elif disabled is not None:
            status, reason = Status.DISABLED, disabled
        else:
            call = apply_call(patch.opt_in)
            status = Status.AVAILABLE
            reason = f"due here; {call} {f'raises: {refusal}' if refusal else 'applies it'}"
    if status is not Status.APPLIED:
        reason = "; ".join([reason, *left_by_revert(copies)])
    return PatchRecord(
        id=patch.id,
        title=patch.title,
        library=patch.library,
        version=version,
        affects=dict(patch.affects),
        status=status,
        reason=reason,
        targets=targets,
        upstream=patch.upstream,
        error=error,
        rival=rival,
        replaced=replaced,
        refusal=refusal,
        _patch=patch,
        _diffs=diffs,
        _resolution=resolution,
    )


def left_by_revert(copies: Iterable[FixedCallable]) -> Iterator[str]:
    """Yield a sentence for each copy that still has the change of a patch that was reverted."""
    for fixed in copies:
        if maker := fixed.copied_by():
            yield (
                f"{fixed.qualname} is a copy that {maker} made, and keeps the change: "
                "revert() cannot undo it"
            )


def broken_record(broken: Broken) -> PatchRecord:
    """Return the record of a definition that could not be read."""
    return PatchRecord(
        id=broken.name,
        title="a patch definition that cannot be read",
        library="",
        version=None,
        affects={},
        status=Status.FAILED,
        reason=str(broken.error),
        targets=(),
        upstream=(),
        error=broken.error,
    )


def _resolution(patch: Patch, armed: ArmedPatch | None) -> Resolution:
    if armed is None:
        return resolve(patch)
    lookup = armed.look_up()
    if lookup.resolution is None:
        raise lookup.problem or ValueError(patch.id)
    return lookup.resolution


def _target_record(place: str, outcome: FixOutcome) -> TargetRecord:
    if outcome.status is Status.OVERRIDDEN:
        return TargetRecord(place, outcome.status, _replacement(place))
    return TargetRecord(place, outcome.status, outcome.reason)


def _replacement(target: str) -> str:
    """Say what is there instead of what was fixed; empty where it has the same name."""
    module, _, qualname = target.partition(":")
    try:
        value = bind(sys.modules[module], qualname).value
    except (Drift, KeyError):
        return "it is gone"
    if not isinstance(value, (FunctionType, type)):
        return f"it is a {type(value).__name__} now"
    name = f"{getattr(value, '__module__', '?')}:{getattr(value, '__qualname__', '?')}"
    return f"it is {name} now" if name != target else ""


def _summarize(targets: tuple[TargetRecord, ...]) -> tuple[Status, str]:
    """Return the worst status of the targets, and a sentence about them."""
    status = worst({target.status for target in targets})
    concerned = [target for target in targets if target.status is status]
    if status in (Status.DRIFTED, Status.FAILED):
        others = sum(target.status is Status.APPLIED for target in targets)
        also = f"; {plural(others, 'other target')} fixed" if others else ""
        return status, concerned[0].reason + also
    has_own = status in (Status.APPLIED, Status.OVERRIDDEN)
    names = ", ".join(
        target.target.partition(":")[2]
        + (f" ({target.reason})" if has_own and target.reason else "")
        for target in concerned[:_NAMED]
    )
    if len(concerned) > _NAMED:
        names += f" and {len(concerned) - _NAMED} more"
    if status is Status.OVERRIDDEN:
        return status, f"someone has since replaced {names}"
    if status is Status.PENDING and concerned and concerned[0].reason:
        return status, concerned[0].reason
    if status is Status.PENDING:
        modules = plural(len(concerned), "module") if concerned else "a module that has the bug"
        return status, f"waits for the import of {modules}"
    waiting = len(targets) - len(concerned)
    later = f"; {waiting} more when their modules are imported" if waiting else ""
    return status, f"fixed {names}{later}"
