"""What is needed of released wheels, fetched once and kept in a cache folder."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path

from . import client, tree
from .errors import ScanError
from .tree import Tree

_SUFFIX = ".sources.zip"
_NEEDED = (".py", ".dist-info/METADATA")
_YANKED = "YANKED"
"""A member of what is kept of a yanked release."""


def default_folder() -> Path:
    """`PATCHKIT_CACHE`, or the folder `patchkit` among the user's caches."""
    if chosen := os.environ.get("PATCHKIT_CACHE"):
        return Path(chosen)
    variable, otherwise = (
        ("LOCALAPPDATA", "~/AppData/Local") if os.name == "nt" else ("XDG_CACHE_HOME", "~/.cache")
    )
    return Path(os.environ.get(variable) or Path(otherwise).expanduser()) / "patchkit"


class Wheels:
    """Sources of releases, from the cache or through pip.

    Of a wheel the Python files and the metadata are kept, as `trl-1.16.0.sources.zip`; a wheel of
    bitsandbytes has 60 MB of other things.

    Args:
        folder: the cache; made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sources"

    def kept(self, library: str) -> list[str]:
        """The releases of a library that are in the cache."""
        stem = f"{_spelled(library)}-"
        names = (file.name for file in self.folder.glob(f"{stem}*{_SUFFIX}"))
        return [name.removeprefix(stem).removesuffix(_SUFFIX) for name in names]

    def fetch(self, library: str, version: str) -> None:
        """Have a release in the cache.

        Raises:
            ScanError: it cannot be had, or does not unpack.
        """
        if not self._file(library, version).exists():
            self._download(library, version)

    def read(self, library: str, version: str, packages: Collection[str]) -> Tree:
        """The modules of a release.

        Raises:
            ScanError: it cannot be had, does not unpack, or has none of the packages.
        """
        self.fetch(library, version)
        file = self._file(library, version)
        if not zipfile.is_zipfile(file):  # damaged since it was written
            file.unlink(missing_ok=True)
            self.fetch(library, version)
        return tree.of_archive(file, packages)

    def yanked(self, library: str, version: str) -> bool:
        """Whether the index had yanked a release when it was fetched."""
        try:
            with zipfile.ZipFile(self._file(library, version)) as kept:
                return _YANKED in kept.namelist()
        except tree.UNREADABLE:
            return False

    def _file(self, library: str, version: str) -> Path:
        return self.folder / f"{_spelled(library)}-{version}{_SUFFIX}"

    def _download(self, library: str, version: str) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder) as temporary:
                answer = client.ask(
                    "download",
                    "--no-deps",
                    "--only-binary=:all:",
                    "--dest",
                    temporary,
                    f"{library}=={version}",
                )
                wheels = list(Path(temporary).glob("*.whl"))
                if not answer.ok or not wheels:
                    raise ScanError(_reason(library, version, answer))
                kept = Path(temporary, "kept")
                keep(wheels[0], kept, yanked="yanked version" in answer.messages)
                # Another process may be at it too: whoever is last puts the same there.
                kept.replace(self._file(library, version))
        except OSError as error:
            raise ScanError(
                f"{error.filename or self.folder} cannot be written: {error.strerror}; choose "
                "another folder with --cache or PATCHKIT_CACHE"
            ) from error


def keep(wheel: Path, kept: Path, *, yanked: bool = False) -> None:
    """Write what is needed of a wheel.

    Raises:
        ScanError: the wheel does not unpack.
        OSError: the file cannot be written.
    """
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = (one for one in opened.namelist() if one.endswith(_NEEDED))
            contents = {name: opened.read(name) for name in names}
    except tree.UNREADABLE as error:
        raise ScanError(f"{wheel.name} does not unpack: {error}") from error
    if yanked:
        contents[_YANKED] = b""
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in contents.items():
            new.writestr(name, content)


def _spelled(library: str) -> str:
    """A distribution's name as file names have it."""
    from packaging.utils import canonicalize_name

    return canonicalize_name(library).replace("-", "_")


def _reason(library: str, version: str, answer: client.Answer) -> str:
    if answer.unreached:
        return "it could not be downloaded: the package index was not reached"
    if "No matching distribution" in answer.messages:
        return f"the package index has no wheel of {library} {version} for this platform"
    return f"it could not be downloaded: {answer.error}"
