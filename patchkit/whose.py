"""Whose a piece of code is: the user's, a framework's, a library's, the interpreter's, or ours.

What is a framework is read off the records of installed distributions, and no list names any.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from .libraries import LIBRARIES, with_role

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from types import FrameType, FunctionType

REMOTE_CODE = "transformers_modules"
"""The package that Transformers makes of the code which a model's repository brings along."""
INSTALLED = r"(?:^|.*/)(?:site|dist)-packages/(?:[\w.+-]+\.egg/)?(.+)"
_GENERATED = {REMOTE_CODE: REMOTE_CODE, "unsloth_compiled": "unsloth"}
"""How the names of folders begin that hold generated code, and whose that is."""
_REQUIREMENT = r"[A-Za-z0-9._-]+"
_RECORDED = r"(?m)^([^/,\n]+?)(?:/|\.py,)"


class Whose(Enum):
    """Who wrote a piece of code."""

    USER = "user"
    """A script, files beside it, a notebook, an editable install that the user runs by its name."""
    FRAMEWORK = "framework"
    """An installed distribution that requires one of the libraries, or a model's remote code."""
    LIBRARY = "library"
    """One of the libraries, or any other installed distribution."""
    INTERPRETER = "interpreter"
    """Python's own library, and the programs that pip puts beside the interpreter."""
    OURS = "patchkit"


class CodeOwner(NamedTuple):
    """Whose a piece of code is.

    Args:
        whose: who wrote it.
        name: a library as it is imported, a framework as its distribution; empty for the user's.
    """

    whose: Whose
    name: str = ""


_USER = CodeOwner(Whose.USER)
_INTERPRETER = CodeOwner(Whose.INTERPRETER)
_OF_REMOTE_CODE = CodeOwner(Whose.FRAMEWORK, REMOTE_CODE)


def owner_of_frame(frame: FrameType) -> CodeOwner:
    """Return whose code a frame runs."""
    return _owner(str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename)


def owner_of_class(cls: type) -> CodeOwner:
    """Return whose a class is."""
    return _owner(cls.__module__, "")


def owner_of_function(function: FunctionType) -> CodeOwner:
    """Return whose a function is."""
    return _owner(function.__module__ or "", function.__code__.co_filename)


def owner_of_file(file: str) -> CodeOwner:
    """Return whose a source file is."""
    return _owner("", file)


def installed_place(file: str) -> str:
    """Return a file below the folder of installed packages, with forward slashes: `peft/x.py`.

    Generated code counts as the package that generated it. The file need not exist here.

    Returns:
        nothing, if it is in no such folder.
    """
    path = file.replace("\\", "/")
    if found := re.match(INSTALLED, path):
        return found[1]
    parts = path.split("/")
    for number, part in enumerate(parts[:-1]):
        for start, package in _GENERATED.items():
            if part.startswith(start):
                return "/".join([package, *parts[number + 1 :]])
    return ""


@functools.lru_cache(maxsize=4096)
def _owner(module: str, file: str) -> CodeOwner:
    package = module.partition(".")[0]
    if package == "patchkit":
        return CodeOwner(Whose.OURS, package)
    if package in LIBRARIES:
        return CodeOwner(Whose.LIBRARY, package)
    if file.startswith("<frozen ") or package == "builtins":
        return _INTERPRETER
    if not file or file.startswith("<"):
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        if not file:
            return _INTERPRETER if package in sys.builtin_module_names else _USER
    return _owner_of_path(os.path.abspath(file))


def _owner_of_path(path: str) -> CodeOwner:
    place = installed_place(path)
    if place.startswith(f"{REMOTE_CODE}/"):
        return _OF_REMOTE_CODE
    if place:
        return _owner_of_installed(path.removesuffix(place.replace("/", os.sep)), place)
    if _is_below(path, os.path.dirname(os.__file__)) or _is_beside_interpreter(path):
        return _INTERPRETER
    for root in sorted(map(os.path.abspath, sys.path), key=len, reverse=True):
        if _is_below(path, root):
            place = os.path.relpath(path, root).replace(os.sep, "/")
            # Also where `pip install --target` put it.
            return (
                _owner_of_installed(root, place)
                if _top(place) in _packages(root)
                else _editable(path)
            )
    return _editable(path)


def _owner_of_installed(root: str, place: str) -> CodeOwner:
    package = _top(place)
    if package == "patchkit":
        return CodeOwner(Whose.OURS, package)
    if package in LIBRARIES:
        return CodeOwner(Whose.LIBRARY, package)
    having = _packages(root).get(package, [])
    if len(having) > 1:  # parts of a namespace package
        recorded = re.compile(rf"^{re.escape(place)},", re.MULTILINE)
        exact = [each for each in having if recorded.search(each.read_text("RECORD") or "")]
        having = exact or having
    for found in having:
        if _requires_library(found):
            return CodeOwner(Whose.FRAMEWORK, _name(found))
    return CodeOwner(Whose.LIBRARY, package)


def _editable(path: str) -> CodeOwner:
    """Return whose a file is that lies in no folder of installed packages."""
    for folder, found in _editable_installs():
        if _is_below(path, folder) and _requires_library(found) and not _is_run(folder):
            return CodeOwner(Whose.FRAMEWORK, _name(found))
    return _USER


def _is_run(folder: str) -> bool:
    """Tell whether the user runs a file or module of a folder by its name."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file and _is_below(os.path.abspath(file), folder) and not _is_beside_interpreter(file):
        return True
    words = sys.orig_argv[1:]
    if "-m" not in words[:-1]:
        return False
    # Its packages are imported before Python says which module it runs.
    parts = words[words.index("-m") + 1].split(".")
    return any(os.path.exists(os.path.join(folder, *above, parts[0])) for above in ((), ("src",)))


def _is_beside_interpreter(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) == os.path.dirname(sys.executable)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _top(place: str) -> str:
    """Return the package or module that a file below a folder belongs to."""
    return place.partition("/")[0].partition(".")[0]


@functools.cache
def _packages(root: str) -> dict[str, list[Distribution]]:
    """Return the distributions that are recorded in a folder, by what can be imported of them."""
    from importlib import metadata

    found: dict[str, list[Distribution]] = {}
    for distribution in metadata.distributions(path=[root]):
        if _folder_of(distribution).endswith(".egg-info") and not installed_place(f"{root}/x"):
            continue  # the sources of a package, which were not installed here
        listed = distribution.read_text("top_level.txt")
        tops = set(listed.split() if listed else ())
        if not tops:
            tops = set(re.findall(_RECORDED, distribution.read_text("RECORD") or ""))
        for top in tops or {_import_name(_name(distribution))}:
            found.setdefault(top, []).append(distribution)
    return found


@functools.cache
def _editable_installs() -> list[tuple[str, Distribution]]:
    """Return the folders that packages were installed from with `pip install -e`, and whose."""
    return list(_editables())


def _editables() -> Iterator[tuple[str, Distribution]]:
    import json
    from importlib import metadata
    from urllib.parse import unquote, urlparse

    for found in metadata.distributions():
        origin = json.loads(found.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            yield os.path.normpath(unquote(urlparse(origin["url"]).path)), found


def _requires_library(distribution: Distribution) -> bool:
    """Tell whether a distribution requires one of the libraries, whatever its extras do."""
    return any(
        "extra" not in text.partition(";")[2]
        and (name := re.match(_REQUIREMENT, text)) is not None
        and _import_name(name[0]) in with_role("interfaces")
        for text in distribution.requires or ()
    )


def _name(distribution: Distribution) -> str:
    return str(distribution.metadata["Name"])


def _import_name(distribution: str) -> str:
    return re.sub(r"[-_.]+", "_", distribution).lower()


def _folder_of(distribution: Any) -> str:
    return str(getattr(distribution, "_path", ""))
