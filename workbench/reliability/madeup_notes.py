"""Note what modules of the made-up library hold when their body has run, before any hook.

Each of them ends with a call of `note`.
"""

from __future__ import annotations

import sys

from .snapshots import Snapshot

NOTES: dict[str, Snapshot] = {}
EARLIER: list[Snapshot] = []
"""Those of modules that were imported again or reloaded since; the newest few."""
KEPT = 8


def note(name: str) -> None:
    if name in NOTES:
        EARLIER.append(NOTES[name])
        del EARLIER[:-KEPT]
    NOTES[name] = Snapshot.of([sys.modules[name]])
