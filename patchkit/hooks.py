"""Be told when a module has finished loading."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

_waiting: set[tuple[str, Callable[[ModuleType], None]]] = set()


def when_loaded(module: str, tell: Callable[[ModuleType], None]) -> None:
    """Call `tell` once the module has been imported; at once if it has been already.

    A module is waited for once, however often this is asked: `tell` finds out for itself what is
    to be done. wrapt cannot take a hook back, so a hook that is no longer wanted is one whose
    `tell` finds nothing to do.
    """
    import wrapt

    if (module, tell) in _waiting:
        return
    _waiting.add((module, tell))

    def loaded(live: ModuleType) -> None:
        _waiting.discard((module, tell))
        tell(live)

    wrapt.register_post_import_hook(loaded, module)
