"""The version of patchkit, its distribution, the folder it lies in, and its tables of data."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.2.0"

DISTRIBUTION = "patchkit-trl"
"""Its name on the package index, where `patchkit` is another project."""

PACKAGE = os.path.dirname(os.path.abspath(__file__))
"""The folder of the running package."""


def shipped_path(name: str) -> str:
    """Return the path of a shipped file or folder, such as `patches`.

    It lies inside the package of a wheel, and beside that of a checkout. If it is in neither place,
    the path is that in a checkout.
    """
    inside = os.path.join(PACKAGE, name)
    return inside if os.path.exists(inside) else os.path.join(os.path.dirname(PACKAGE), name)


_tables: dict[str, Any] = {}


def shipped_table(name: str) -> Any:
    """Return what a file of JSON in the package has: `known/since.json`; it is read once."""
    if name not in _tables:
        import json

        with open(os.path.join(PACKAGE, name), encoding="utf-8") as file:
            _tables[name] = json.load(file)
    return _tables[name]


def namesake() -> str:
    """Describe the distribution `patchkit` that is installed into the same folder; mostly empty.

    It is another project's. The folder is read: `importlib.metadata` takes longer to import than
    all of patchkit.
    """
    try:
        names = os.listdir(os.path.dirname(PACKAGE))
    except OSError:  # in a zip file, for example
        return ""
    for name in names:
        stem, ending = os.path.splitext(name)
        if ending in (".dist-info", ".egg-info") and stem.lower().startswith("patchkit-"):
            return stem.replace("-", " ", 1)
    return ""


def namesake_problem(found: str) -> str:
    """Return what is wrong where `namesake` has found something, and what to do, on one line."""
    return (
        f"{found} is installed into the same folder as {DISTRIBUTION}, and has files of the same "
        f"names: do `pip uninstall -y patchkit`, then install {DISTRIBUTION} again with "
        "--force-reinstall"
    )
