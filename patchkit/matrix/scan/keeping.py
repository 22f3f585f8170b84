"""Write files of the cache."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import ScanError


def keep(file: Path, text: str) -> None:
    """Put a text into a file of the cache, in one step; make its folder if it is not there.

    Raises:
        ScanError: the folder cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=file.parent, suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8") as new:
            new.write(text)
        Path(beside).replace(file)
    except OSError as error:
        raise ScanError(
            f"{file.parent} cannot be written: {error.strerror}; choose another folder with "
            "--cache or PATCHKIT_CACHE"
        ) from error
