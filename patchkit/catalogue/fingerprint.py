"""Tell states of a patch's files apart, as Python tells those of a source: by size and time."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

from ..about import shipped_path

if TYPE_CHECKING:
    from .definitions import Definition

_MOST_FILES = 1000
"""Of a folder: a file in one with more may import helpers from too many to look at."""
_TOO_CLOSE_NS = 2_000_000_000
"""A file that changed so recently may have changed after it was imported."""


def fingerprint(definition: Definition, module: ModuleType) -> str:
    """Name the state of a patch's file and of all files that it may import helpers from.

    They are those of the catalogue for a patch that comes with patchkit, and those in the folder of
    any other.

    Returns:
        an empty string where there are too many, or one has just been changed.
    """
    if definition.is_shipped:
        return _of_shipped()
    file = definition.file or getattr(module, "__file__", None) or ""
    return of_folder(os.path.dirname(os.path.abspath(file))) if file else ""


@functools.cache
def _of_shipped() -> str:
    """Name the state of the catalogue, whose files a process imports only once."""
    return of_folder(shipped_path("patches"))


def of_folder(folder: str, endings: tuple[str, ...] = (".py",)) -> str:
    """Name the state of all Python files in a folder, subfolders included; empty if unknown."""
    latest = time.time_ns() - _TOO_CLOSE_NS
    states = []
    folders = [folder]
    try:
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(endings):
                        file = entry.stat()
                        if file.st_mtime_ns > latest:
                            return ""
                        states.append(f"{entry.path}\0{file.st_size}\0{file.st_mtime_ns}")
                    elif not entry.name.startswith((".", "__")) and entry.is_dir():
                        folders.append(entry.path)
            if len(states) > _MOST_FILES:
                return ""
    except OSError:
        return ""
    return _digest(sorted(states))


_RECORDS = (".dist-info", ".egg-info")
_READ = ("METADATA", "PKG-INFO", "entry_points.txt")
"""Files of a record that say which version is installed, and which patches come with it."""


def of_installed() -> str:
    """Name the state of the records of all that is installed; empty if unknown."""
    if any(
        finder is not PathFinder and hasattr(finder, "find_distributions")
        for finder in sys.meta_path
    ):
        return ""
    latest = time.time_ns() - _TOO_CLOSE_NS
    states = []
    for name in dict.fromkeys(sys.path):
        folder = os.path.abspath(name)
        try:
            records = [record for record in os.listdir(folder) if record.endswith(_RECORDS)]
            files = [f"{folder}/{record}/{file}" for record in records for file in _READ]
        except NotADirectoryError:
            files = [folder]  # a zip file, which may hold anything
        except OSError:
            continue
        for path in sorted(files):
            try:
                file = os.stat(path)
            except NotADirectoryError:
                return ""  # a record that is a file, as installers of long ago wrote them
            except OSError:
                continue
            if file.st_mtime_ns > latest:
                return ""
            states.append(f"{path}\0{file.st_size}\0{file.st_mtime_ns}")
    return _digest(states)


def _digest(states: list[str]) -> str:
    text = "\n".join(states).encode(errors="surrogateescape")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
