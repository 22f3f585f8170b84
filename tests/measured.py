"""Look up in the matrix which reproducers fail in this environment."""

from __future__ import annotations

from patchkit.engine.session import SESSION
from patchkit.matrix import installed_versions, look_up


def cannot_run_here(patch_id: str) -> str:
    """Return why a patch's reproducer cannot run on exactly these versions; empty if it can.

    It cannot if the library itself fails before the bug, as measured.
    """
    library = SESSION.catalogue.entries[patch_id].patch.library
    found = look_up(patch_id, library, installed_versions([library]))
    if found.level == "combination" and "error" in found.outcomes:
        return f"the reproducer of {patch_id} cannot run on these versions, as was measured"
    return ""
