"""Fetch released wheels once, and cache what a scan needs of them."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path

from ...environment import cache_folder
from ..records import ScanError
from . import client, tree
from .tree import Tree

_FOLDER = "sources"
_SUFFIX = ".sources.zip"
_NEEDED = (".py", ".dist-info/METADATA")
_YANKED = "YANKED"
"""Member of the cached archive of a yanked release."""


def default_folder() -> Path:
    """Return `PATCHKIT_CACHE`, or the folder `patchkit` among the user's caches.

    Raises:
        ScanError: there is none.
    """
    folder = cache_folder()
    if not folder:
        raise ScanError(
            "there is no folder for what is read: PATCHKIT_CACHE is off or relative, or there is "
            "no home; name one with --cache"
        )
    return Path(folder)


def cached_versions(folder: Path, library: str) -> list[str]:
    """List the releases of a library that are in the cache."""
    stem = f"{file_stem(library)}-"
    names = (file.name for file in (folder / _FOLDER).glob(f"{stem}*{_SUFFIX}"))
    return [name.removeprefix(stem).removesuffix(_SUFFIX) for name in names]


class Wheel:
    """The sources of a release, from the cache or through pip.

    Of a wheel the Python files and the metadata are cached, as `trl-1.16.0.sources.zip`; a wheel of
    bitsandbytes has 60 MB of other files.
    """

    def __init__(self, folder: Path, library: str, version: str) -> None:
        self.library, self.version = library, version
        self.file = folder / _FOLDER / f"{file_stem(library)}-{version}{_SUFFIX}"

    def fetch(self) -> None:
        """Download the release, unless the cache has it.

        Raises:
            ScanError: it cannot be downloaded, or does not unpack.
        """
        if self.file.exists():
            return
        folder = self.file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as temporary:
                self._download(Path(temporary))
        except OSError as error:
            raise ScanError(
                f"{error.filename or folder} cannot be written: {error.strerror}; choose another "
                "folder with --cache or PATCHKIT_CACHE"
            ) from error

    def _download(self, temporary: Path) -> None:
        options = ("--no-deps", "--only-binary=:all:", "--dest", str(temporary))
        answer = client.run_pip("download", *options, f"{self.library}=={self.version}")
        wheels = list(temporary.glob("*.whl"))
        if not answer.ok or not wheels:
            raise ScanError(_reason(self.library, self.version, answer))
        sources = temporary / "sources.zip"
        write_sources(wheels[0], sources, yanked="yanked version" in answer.messages)
        # Another process may write it too: both write the same.
        sources.replace(self.file)

    def read(self, packages: Collection[str]) -> Tree:
        """Read the modules of the release.

        Raises:
            ScanError: it cannot be downloaded, does not unpack, or has none of the packages.
        """
        self.fetch()
        if not zipfile.is_zipfile(self.file):  # damaged since it was written
            self.file.unlink(missing_ok=True)
            self.fetch()
        return tree.of_archive(self.file, packages)

    def note(self) -> str:
        """Return `yanked` if the index had yanked the release when it was fetched, or nothing."""
        try:
            with zipfile.ZipFile(self.file) as archive:
                return "yanked" if _YANKED in archive.namelist() else ""
        except tree.UNREADABLE:
            return ""


def write_sources(wheel: Path, sources: Path, *, yanked: bool = False) -> None:
    """Write what a scan needs of a wheel.

    Raises:
        ScanError: the wheel does not unpack.
        OSError: the file cannot be written.
    """
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = (name for name in opened.namelist() if name.endswith(_NEEDED))
            contents = {name: opened.read(name) for name in names}
    except tree.UNREADABLE as error:
        raise ScanError(f"{wheel.name} does not unpack: {error}") from error
    if yanked:
        contents[_YANKED] = b""
    with zipfile.ZipFile(sources, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in contents.items():
            new.writestr(name, content)


def file_stem(library: str) -> str:
    """Return a distribution's name as file names spell it."""
    from packaging.utils import canonicalize_name

    return canonicalize_name(library).replace("-", "_")


def _reason(library: str, version: str, answer: client.PipAnswer) -> str:
    if answer.unreached:
        return "download failed: the package index was not reached"
    if "No matching distribution" in answer.messages:
        return f"the package index has no wheel of {library} {version} for this platform"
    return f"download failed: {answer.error}"
