"""Installed versions with a measured bug whose patch is not applied."""

from __future__ import annotations

import fnmatch
import sys

from .. import repairs
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import counted


def unmended_bugs(facts: Facts) -> Finding | None:
    """Bugs of modules that are loaded, measured on exactly the versions that are installed.

    A patch that the user left out was left out on purpose.
    """
    from ...patch import Status
    from ...session import SESSION
    from ...status import TROUBLE

    unmended = [
        one
        for one in SESSION.report().with_status(*TROUBLE, Status.AVAILABLE)
        if one.id in SESSION.catalogue.entries and _is_known_bug(one.id)
    ]
    if not unmended:
        return None
    ids = [one.id for one in unmended]
    bugs = "; ".join(f"{one.library} {one.version}: {one.id} ({one.title})" for one in unmended)
    if all(one.status is Status.AVAILABLE for one in unmended):
        change = "patchkit.apply()  # before the trainer is made"
    else:
        change = "print(patchkit.report())  # says why a patch does not hold"
    return Finding(
        "unmended-bugs",
        Severity.WARNING,
        f"{counted(len(ids), 'bug')} measured on these very versions, with the patch not applied: "
        f"{bugs}",
        "compat_matrix.yaml has each of them shown on these versions, and mended by its patch. "
        "Whether this training meets one depends on what it does.",
        change,
        repair=repairs.apply_patches([one.id for one in unmended if one.status == "available"]),
    )


def _is_known_bug(patch_id: str) -> bool:
    from ...environment import installed_version
    from ...matrix import outcomes
    from ...resolution import resolve
    from ...rewrite import Target
    from ...session import SESSION

    patch = SESSION.catalogue.entries[patch_id].patch
    if patch.opt_in:
        return False
    modules = {Target.parse(change.target).module for change in resolve(patch).changes}
    if not any(fnmatch.filter(sys.modules, module) for module in modules):
        return False
    versions = {name: installed_version(name) or "" for name in patch.affects}
    return bool(outcomes(patch_id, versions) & {"mended", "not-mended"})
