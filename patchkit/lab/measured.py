"""What the matrix knows of the reproducers in this environment."""

from __future__ import annotations

from ..matrix import installed, tested


def cannot_run_here(patch_id: str) -> str:
    """Why the reproducer of a patch cannot run on these very versions; empty where it can.

    That is so where the library itself fails on the way to the bug, as it was measured.
    """
    from ..session import SESSION

    library = SESSION.catalogue.entries[patch_id].patch.library
    found = tested(patch_id, library, installed([library]))
    if found.level == "combination" and "error" in found.outcomes:
        return f"the reproducer of {patch_id} cannot run on these versions, as was measured"
    return ""
