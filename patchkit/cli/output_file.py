"""Files that a user names for output."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import UsageError


def check_writable(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Args:
        path: the file; it may be there already.
        option: the option that the user gave it with, such as `--plot`.

    Raises:
        UsageError: it is a folder, its folder is missing, or either is not writable.
    """
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {path}: it cannot be written to")
