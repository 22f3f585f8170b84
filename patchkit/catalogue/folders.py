"""A project's own patches: files in a folder, imported by path and not from `sys.path`."""

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
"""The parent package of all such folders; each is a package named by a digest of its path."""
_NO_PATCHES = ("_", "test_", "conftest.py")

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One folder or file, or several."""


def resolve_paths(patches: Paths) -> list[Path]:
    """Return the folders and files that the argument `patches` of `apply` names, as absolute paths.

    Raises:
        UsageError: it is something else, or there is no such folder or file.
    """
    if isinstance(patches, (str, os.PathLike)):
        patches = [patches]
    if not isinstance(patches, Iterable):
        raise UsageError(
            f"patches= takes a folder, a .py file, or several of them, not {patches!r}"
        )
    paths = []
    for path in patches:
        if not isinstance(path, (str, os.PathLike)) or not str(path):
            raise UsageError(f"patches= takes folders and .py files, not {path!r}")
        paths.append(_resolve_path(str(path)))
    return paths


def _resolve_path(name: str) -> Path:
    path = Path(name).expanduser().resolve()
    if not path.exists():
        raise UsageError(f"there is no folder or file of patches {name!r}, seen from {Path.cwd()}")
    if not path.is_dir() and path.suffix != ".py":
        raise UsageError(f"patches are in a folder or a .py file, which {name!r} is not")
    if os.pathsep in str(path):
        raise UsageError(f"a folder of patches may not have {os.pathsep!r} in its path: {path}")
    return path


def paths_from_environment() -> list[str]:
    """Return the folders and files in the environment variable, relative to where this runs."""
    return [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


def variable_for_children(paths: Iterable[Path]) -> str:
    """Return the environment variable for child processes: what it names already, and these."""
    before = [Path(path).expanduser().resolve() for path in paths_from_environment()]
    return os.pathsep.join(dict.fromkeys(map(str, [*before, *paths])))


def definitions_in(paths: Iterable[Path]) -> list[Definition]:
    """Return the patch files in folders and the folders below them, and single files.

    Files that begin with `_` or `test_`, and `conftest.py`, are no patches; nor is anything in a
    folder that begins with `_` or a dot.

    Raises:
        UsageError: a folder has none.
    """
    return [definition for path in paths for definition in _definitions(path)]


def _definitions(path: Path) -> list[Definition]:
    if path.is_file():
        return [_definition(path.parent, path)]
    files = [file for file in sorted(path.rglob("*.py")) if _is_patch(file.relative_to(path))]
    if not files:
        raise UsageError(
            f"there is no patch in the folder {path}; a patch is a .py file whose name begins with "
            "neither _ nor test_"
        )
    return [_definition(path, file) for file in files]


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
        return importlib.import_module(".".join([package_of(folder), *parts]))

    return Definition(str(file), fetch, str(file))


def package_of(folder: Path) -> str:
    """Return the name of a folder's package, which is made on the first call."""
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
def unload_on_error() -> Iterator[None]:
    """Unload the patch files that the block imported if it raises, so that a fix is read.

    Otherwise helpers beside a patch would stay as they were.
    """
    before = set(sys.modules)
    try:
        yield
    except BaseException:
        for name in [name for name in sys.modules if name not in before]:
            if name.startswith(f"{PACKAGE}."):
                del sys.modules[name]
        raise
