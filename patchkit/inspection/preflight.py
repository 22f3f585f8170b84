"""One preflight: gather, check, mend what can be mended, and look again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from ..errors import UsageError
from ..heap import without_garbage_collection
from .facts import Facts, gather
from .findings import Finding, Findings, Severity
from .hardware import Hardware
from .subject import Subject, subject

logger = logging.getLogger("patchkit")


def run(model: object, args: object, optimizer: object, *, fix: bool = False) -> Findings:
    """What `patchkit.preflight` does; see there."""
    if not isinstance(fix, bool):
        raise UsageError(f"fix= must be True or False, not {fix!r}")
    what = subject(model, args, optimizer)
    with without_garbage_collection():
        return inspect(what, fix=fix)


def inspect(what: Subject, *, fix: bool = False, hardware: Hardware | None = None) -> Findings:
    """Look at a training, and mend what can be mended if asked to.

    Args:
        what: the model, its arguments and so on.
        fix: whether to mend.
        hardware: the device that trains; asked of the accelerator or of torch if None.
    """
    facts = _facts(what, hardware)
    found = list(check(facts))
    if not fix or not any(one.fixable for one in found):
        return Findings(found, facts.describe())
    done = {}
    for one in found:
        if one.repair is not None:
            try:
                done[one.id] = one.repair()
            except Exception as error:
                logger.exception("patchkit: the repair of %s failed", one.id)
                problem = f"patchkit could not mend it: {type(error).__name__}: {error}"
                found[found.index(one)] = replace(one, why=f"{one.why} {problem}", repair=None)
    facts = _facts(what, hardware)
    left = {one.id: one for one in check(facts)}
    before = {one.id: one for one in found}
    for name in left.keys() & before.keys():
        if before[name].repair is None:
            left[name] = before[name]
    mended = [
        replace(one, fixed=done.get(one.id) or "went away with another repair")
        for one in found
        if one.id not in left
    ]
    return Findings([*left.values(), *mended], facts.describe())


def check(facts: Facts) -> Iterator[Finding]:
    """Run all checks. One that fails is a note, and does not keep the others from running."""
    from .checks import CHECKS

    for one in CHECKS:
        try:
            finding = one(facts)
        except Exception as error:
            logger.exception("patchkit: the check %s failed", one.__name__)
            finding = Finding(
                f"unchecked-{one.__name__.replace('_', '-')}",
                Severity.NOTE,
                f"the check {one.__name__} failed: {type(error).__name__}: {error}",
                "This is a mistake in patchkit, not in your training.",
                "please report it, with the traceback in the log",
            )
        if finding is not None:
            yield finding


def _facts(what: Subject, hardware: Hardware | None) -> Facts:
    from ..session import SESSION

    return gather(what, hardware=hardware, applied=SESSION.applied())
