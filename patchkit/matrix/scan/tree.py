"""Read the Python files of a release: from a wheel, from the cache, or from a folder."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from ..records import ScanError

Tree = dict[str, bytes]
"""Name of a module to the content of its file."""

UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
"""Errors of `zipfile` for an archive that is damaged, encrypted or of an unknown kind."""


def of_archive(archive: Path, packages: Collection[str]) -> Tree:
    """Read the modules of some top-level packages in a wheel.

    Raises:
        ScanError: it does not unpack, or has none of the packages.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            tree = {
                module: opened.read(name)
                for name, module in modules_of(opened.namelist())
                if module.partition(".")[0] in packages
            }
    except UNREADABLE as error:
        raise ScanError(f"{archive.name} does not unpack: {error}") from error
    return _non_empty(tree, archive, packages)


def of_folder(folder: Path, packages: Collection[str]) -> Tree:
    """Read the modules of some top-level packages in a folder that holds the packages' folders.

    Raises:
        ScanError: a file cannot be read, or none of the packages is there.
    """
    tree = {}
    try:
        for package in packages:
            below = [folder / f"{package}.py", *_files(folder / package)]
            names = [file.relative_to(folder).as_posix() for file in below if file.is_file()]
            for name, module in modules_of(names):
                tree[module] = (folder / name).read_bytes()
    except OSError as error:
        raise ScanError(f"{error.filename} cannot be read: {error.strerror}") from error
    return _non_empty(tree, folder, packages)


def _non_empty(tree: Tree, place: Path, packages: Iterable[str]) -> Tree:
    if not tree:
        raise ScanError(f"{place.name} has no package {' or '.join(sorted(packages))}")
    return tree


def _files(folder: Path) -> Iterator[Path]:
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(path, name) for name in files)


def modules_of(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that Python would import, and the names of their modules."""
    for name in sorted(names):
        if not name.endswith(".py"):
            continue
        parts = PurePosixPath(name.removesuffix(".py")).parts
        if any("." in part for part in parts):  # no package: `trl-1.0.dist-info`, `x.data`
            continue
        yield name, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
