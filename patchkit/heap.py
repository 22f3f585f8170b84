"""The heap of this process, on which thousands of small objects are made."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Hold collections off while thousands of small objects are made: syntax trees, facts.

    Each collection that they set off walks the whole heap, which holds torch and all the
    libraries by now.
    """
    enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if enabled:
            gc.enable()
