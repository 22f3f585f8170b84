"""Read the Python files of a release: from a wheel, from the cache, or from a folder."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from .errors import ScanError

Tree = dict[str, bytes]
"""Name of a module to the content of its file."""

UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
"""Errors of `zipfile` for an archive that is damaged, encrypted or of an unknown kind."""


class Archive(Mapping[str, bytes]):
    """The modules of some top-level packages in a wheel, each unpacked when it is asked for.

    Args:
        archive: the wheel, or the part of it in the cache.
        packages: names of the packages.

    Attributes:
        packages: the modules that are packages.

    Raises:
        ScanError: it does not unpack, or has none of the packages.
    """

    def __init__(self, archive: Path, packages: Collection[str]) -> None:
        try:
            self._opened = zipfile.ZipFile(archive)
        except UNREADABLE as error:
            raise ScanError(f"{archive.name} does not unpack: {error}") from error
        self._members = {
            module: name
            for name, module in _modules(self._opened.namelist())
            if module.partition(".")[0] in packages
        }
        if not self._members:
            raise ScanError(f"{archive.name} has no package {' or '.join(sorted(packages))}")
        self.packages = frozenset(
            module for module, name in self._members.items() if name.endswith("__init__.py")
        )

    def __getitem__(self, module: str) -> bytes:
        try:
            return self._opened.read(self._members[module])
        except UNREADABLE as error:
            raise ScanError(f"{self._opened.filename} does not unpack: {error}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def of_archive(archive: Path, packages: Collection[str]) -> Tree:
    """Read the modules of some top-level packages in a wheel.

    Raises:
        ScanError: it does not unpack, or has none of the packages.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            tree = {
                module: opened.read(name)
                for name, module in _modules(opened.namelist())
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
            for name, module in _modules(names):
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


def _modules(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that Python would import, and the names of their modules."""
    for name in sorted(names):
        if not name.endswith(".py"):
            continue
        parts = PurePosixPath(name.removesuffix(".py")).parts
        if any("." in part for part in parts):  # no package: `trl-1.0.dist-info`, `x.data`
            continue
        yield name, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
