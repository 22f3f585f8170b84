"""Remember the interfaces of releases in the cache folder."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from patchkit.about import PACKAGE
from patchkit.matrix.scan.memory import keep

from .interface import Interface
from .modules import Modules

_READERS = (
    *(
        Path(__file__).with_name(f"{name}.py")
        for name in ("exports", "interface", "modules", "signatures", "sources")
    ),
    *(Path(PACKAGE, "matrix", "scan", f"{name}.py") for name in ("outline", "tree")),
)
"""What decides how a release is read."""


class InterfaceMemory:
    """The interfaces that were read with this reader.

    Args:
        folder: the cache.
    """

    def __init__(self, folder: Path) -> None:
        digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
        for file in _READERS:
            digest.update(file.read_bytes())
        self._folder = folder / "interfaces" / digest.hexdigest()[:16]

    def get(self, library: str, version: str) -> Interface | None:
        """Return what is known of a release; None if nothing is."""
        try:
            return Interface(**self._read(f"{library}-{version}.json"))
        except (OSError, ValueError, TypeError):
            return None

    def put(self, library: str, version: str, interface: Interface) -> None:
        """Remember a release.

        Raises:
            ScanError: the folder cannot be written.
        """
        self._write(f"{library}-{version}.json", asdict(interface))

    def modules(self, library: str, version: str) -> Modules | None:
        """Return the modules of a release and the names in them; None if they are not known."""
        try:
            return dict(self._read(f"{library}-{version}.modules.json"))
        except (OSError, ValueError, TypeError):
            return None

    def put_modules(self, library: str, version: str, modules: Modules) -> None:
        """Remember the modules of a release.

        Raises:
            ScanError: the folder cannot be written.
        """
        self._write(f"{library}-{version}.modules.json", modules)

    def places(self, library: str, version: str) -> dict[str, bool]:
        """Return which dotted names are known to be in a release, or not to be."""
        try:
            return dict(self._read(f"{library}-{version}.places.json"))
        except (OSError, ValueError, TypeError):
            return {}

    def put_places(self, library: str, version: str, places: dict[str, bool]) -> None:
        """Remember which dotted names are in a release.

        Raises:
            ScanError: the folder cannot be written.
        """
        self._write(f"{library}-{version}.places.json", places)

    def _read(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self._folder / name).read_text(encoding="utf-8"))
        return content

    def _write(self, name: str, content: dict[str, Any]) -> None:
        keep(self._folder / name, json.dumps(content))
