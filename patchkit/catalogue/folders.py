"""A project's own patches: files in a folder, read by their place and not from `sys.path`."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from ..errors import PatchDefinitionError, UsageError
from .definitions import Definition

VARIABLE = "PATCHKIT_PATCHES"
PACKAGE = "patchkit_local"
"""The package below which the folders are packages, each under a digest of its path."""
_NO_PATCHES = ("_", "test_", "conftest.py")

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One folder or file, or several."""


def checked(given: Paths) -> list[Path]:
    """What the argument `patches` of `apply` names, as absolute paths.

    Raises:
        UsageError: it is something else, or there is no such folder or file.
    """
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if not isinstance(given, Iterable):
        raise UsageError(f"patches= takes a folder, a .py file, or several of them, not {given!r}")
    paths = []
    for one in given:
        if not isinstance(one, (str, os.PathLike)) or not str(one):
            raise UsageError(f"patches= takes folders and .py files, not {one!r}")
        paths.append(_place(str(one)))
    return paths


def _place(given: str) -> Path:
    path = Path(given).expanduser().resolve()
    if not path.exists():
        raise UsageError(f"there is no folder or file of patches {given!r}, seen from {Path.cwd()}")
    if not path.is_dir() and path.suffix != ".py":
        raise UsageError(f"patches are in a folder or a .py file, which {given!r} is not")
    if os.pathsep in str(path):
        raise UsageError(f"a folder of patches may not have {os.pathsep!r} in its path: {path}")
    return path


def from_environment() -> list[str]:
    """What the environment variable names, relative to where this process runs."""
    given = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [one for one in given if one]


def for_other_processes(paths: Iterable[Path]) -> str:
    """A value of the environment variable: what it names already, and these."""
    named = [Path(one).expanduser().resolve() for one in from_environment()]
    return os.pathsep.join(dict.fromkeys(map(str, [*named, *paths])))


def definitions(path: Path) -> list[Definition]:
    """The patch files in a folder and in those below it, or the one file.

    Files that begin with `_` or `test_`, and `conftest.py`, are no patches; nor is anything in a
    folder that begins with `_` or a dot.

    Raises:
        UsageError: there is none.
    """
    if path.is_file():
        return [_definition(path.parent, path)]
    files = sorted(path.rglob("*.py"))
    found = [_definition(path, file) for file in files if _is_patch(file.relative_to(path))]
    if not found:
        raise UsageError(
            f"there is no patch in the folder {path}; a patch is a .py file whose name begins with "
            "neither _ nor test_"
        )
    return found


def _is_patch(file: Path) -> bool:
    inside = all(not folder.startswith(("_", ".")) for folder in file.parts[:-1])
    return inside and not file.name.startswith((*_NO_PATCHES, "."))


def _definition(folder: Path, file: Path) -> Definition:
    parts = file.relative_to(folder).with_suffix("").parts

    def fetch() -> ModuleType:
        if any("." in part for part in parts):
            raise PatchDefinitionError(
                f"the patch file {file} cannot be imported: a dot in a name means a package"
            )
        return importlib.import_module(".".join([_package(folder), *parts]))

    return Definition(str(file), fetch, str(file))


def _package(folder: Path) -> str:
    """The name of the package that a folder is; made when it is first asked for."""
    import hashlib  # takes milliseconds, and most processes have no such folder

    name = f"{PACKAGE}.p{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"
    if name in sys.modules:
        return name
    root = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE, "Folders of patches."))
    root.__path__ = []
    importlib.invalidate_caches()
    init = folder / "__init__.py"
    spec: ModuleSpec | None = ModuleSpec(name, None, is_package=True)
    if init.is_file():
        spec = importlib.util.spec_from_file_location(name, init)
    assert spec is not None
    spec.submodule_search_locations = [str(folder)]
    package = sys.modules[name] = importlib.util.module_from_spec(spec)
    if spec.loader is not None:
        try:
            spec.loader.exec_module(package)
        except BaseException:
            del sys.modules[name]
            raise
    return name


@contextlib.contextmanager
def forgotten_on_error() -> Iterator[None]:
    """Where the block raises, forget the files that it imported: once mended, they are read again.

    Helpers beside a patch would stay as they were otherwise.
    """
    before = set(sys.modules)
    try:
        yield
    except BaseException:
        for name in [name for name in sys.modules if name not in before]:
            if name.startswith(f"{PACKAGE}."):
                del sys.modules[name]
        raise
