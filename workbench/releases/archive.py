"""Read single modules of a wheel, each when it is asked for."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from patchkit.matrix.records import ScanError
from patchkit.matrix.scan.tree import UNREADABLE, modules_of


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
            for name, module in modules_of(self._opened.namelist())
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
