"""The version of patchkit, and the folder it lies in."""

from __future__ import annotations

import os

__version__ = "0.1.0"

PACKAGE = os.path.dirname(os.path.abspath(__file__))
"""The folder of the running package."""


def shipped_path(name: str) -> str:
    """Return the path of a shipped file or folder, such as `patches`.

    It lies inside the package of a wheel, and beside that of a checkout. If it is in neither place,
    the path is that in a checkout.
    """
    inside = os.path.join(PACKAGE, name)
    return inside if os.path.exists(inside) else os.path.join(os.path.dirname(PACKAGE), name)
