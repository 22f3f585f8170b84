"""Garbage collection, held off while many small objects are made."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Hold off garbage collection while thousands of small objects are made: syntax trees, facts.

    Each collection that they trigger would walk the whole heap, torch and all libraries included.
    """
    enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if enabled:
            gc.enable()
