"""Environment variables that the layer has set, and how they were."""

from __future__ import annotations

import os

_before: dict[str, str | None] = {}


def put(name: str, value: str) -> None:
    """Set a variable until `restore`."""
    _before.setdefault(name, os.environ.get(name))
    os.environ[name] = value


def restore() -> None:
    """Give all variables back that were set."""
    while _before:
        name, value = next(iter(_before.items()))
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
        del _before[name]
