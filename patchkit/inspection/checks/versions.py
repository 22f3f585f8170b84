"""Check the installed versions for measured bugs whose patch is not applied."""

from __future__ import annotations

import sys

from .. import repairs
from ..facts import TrainingFacts
from ..findings import Finding, found
from ..wording import plural


def unfixed_bugs(facts: TrainingFacts) -> Finding | None:
    """Find bugs of loaded modules, measured on exactly the installed versions.

    Patches that the user left out do not count.
    """
    from ...engine.session import SESSION
    from ...errors import UnreadableVersion
    from ...patch import Status
    from ...reporting.status import TROUBLE

    unfixed = [
        record
        for record in SESSION.report().with_status(*TROUBLE, Status.AVAILABLE)
        if record.id in SESSION.catalogue.entries
        and not isinstance(record.error, UnreadableVersion)  # of these nothing was measured
        and _is_known_bug(record.id)
    ]
    if not unfixed:
        return None
    bugs = "; ".join(
        f"{record.library} {record.version}: {record.id} ({record.title})" for record in unfixed
    )
    waiting = all(record.status is Status.AVAILABLE for record in unfixed)
    return found(
        "unfixed-bugs",
        case="not applied" if waiting else "in trouble",
        number=plural(len(unfixed), "bug"),
        bugs=bugs,
        repair=repairs.apply_patches(
            [record.id for record in unfixed if record.status == "available"]
        ),
    )


def _is_known_bug(patch_id: str) -> bool:
    from ...catalogue.resolution import resolve
    from ...engine.session import SESSION
    from ...environment import installed_version
    from ...matrix.lookup import outcomes
    from ...rewrite import Target
    from ...rewrite.target import matcher

    patch = SESSION.catalogue.entries[patch_id].patch
    if patch.opt_in:
        return False
    modules = {Target.parse(change.target).module for change in resolve(patch).changes}
    if sys.modules.keys().isdisjoint(modules) and not any(
        any(map(matcher(module), list(sys.modules))) for module in modules if "*" in module
    ):
        return False
    versions = {name: installed_version(name) or "" for name in patch.affects}
    return bool(outcomes(patch_id, versions) & {"fixed", "not-fixed"})
