"""Be told when a module has finished loading."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from types import ModuleType

_waiting: set[tuple[str, Callable[[ModuleType], None]]] = set()


def when_loaded(module: str, tell: Callable[[ModuleType], None]) -> None:
    """Call `tell` once the module has been imported; at once if it has been already.

    Where another thread is in the middle of that import, this waits for it. Where this thread is,
    nobody is told.

    A module is waited for once, however often this is asked: `tell` finds out for itself what is
    to be done. wrapt cannot take a hook back, so a hook that is no longer wanted is one whose
    `tell` finds nothing to do.
    """
    live = sys.modules.get(module) or _hooked(module, tell)
    if live is None:
        return
    if still_loading(live):
        importlib.import_module(module)
    if not still_loading(live):
        tell(live)


def still_loading(module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _hooked(module: str, tell: Callable[[ModuleType], None]) -> ModuleType | None:
    """Place a hook; the module itself where its import has begun since the caller looked."""
    import wrapt

    if (module, tell) in _waiting:
        return None
    _waiting.add((module, tell))
    begun: list[ModuleType] = []
    placing = threading.get_ident()

    def loaded(live: ModuleType) -> None:
        _waiting.discard((module, tell))
        if threading.get_ident() == placing:
            # wrapt calls at once for a module that is there, though it may be half loaded, and
            # some releases of wrapt hold a lock meanwhile: the caller waits for it.
            begun.append(live)
        else:
            tell(live)

    wrapt.register_post_import_hook(loaded, module)
    placing = 0
    return begun[0] if begun else None
