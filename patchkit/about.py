"""Which patchkit this is: its version, and the folder that it lies in."""

from __future__ import annotations

import os

__version__ = "0.1.0"

PACKAGE = os.path.dirname(os.path.abspath(__file__))
"""The folder of the package that runs."""


def shipped_path(name: str) -> str:
    """Return where something lies that comes along: inside a wheel's package, beside a checkout's.

    Args:
        name: of a file or folder, such as `patches`. Where there is none, the path is that of a
            checkout.
    """
    inside = os.path.join(PACKAGE, name)
    return inside if os.path.exists(inside) else os.path.join(os.path.dirname(PACKAGE), name)
