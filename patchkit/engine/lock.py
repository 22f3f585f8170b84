"""The lock that guards what is changed in this process."""

from __future__ import annotations

import os
from _thread import RLock

LOCK = RLock()
"""While it is held nothing is imported and nobody is called: a thread that imports a module holds
that module's import lock and then asks for this one."""

if hasattr(os, "register_at_fork"):
    # A child must not inherit the lock of a thread that it does not have.
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )
