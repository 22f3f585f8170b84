"""Installed distributions and modules, version ranges, and the garbage collector."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import gc
import importlib.machinery
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from .about import DISTRIBUTION
from .errors import PatchDefinitionError, UnreadableVersion
from .libraries import LIBRARIES, with_role


class _LookUps(threading.local):
    """The results of this thread's look-ups since its outermost `cached_lookups` began."""

    results: dict[tuple[Callable[..., Any], str], Any] | None = None


_look_ups = _LookUps()
# Texts: most processes that import this compile none of them.
_NAME = r"(?m)^Name:\s*(\S+)"
_VERSION = r"(?m)^Version:\s*(\S+)"
_REQUIRES = r"(?m)^Requires-Dist:\s*(.+?)\s*$"
_REQUIRED = r"[\w.-]+"
_OF_AN_EXTRA = r";.*\bextra\b"
_COMMAND = r"(?m)^([\w.-]+)\s*="


def cache_folder() -> str:
    """Return the folder for what patchkit keeps between processes.

    It is `PATCHKIT_CACHE`, or `patchkit` among the user's caches.

    Returns:
        an absolute path; empty where `PATCHKIT_CACHE` is `off` or relative, or there is no home.
    """
    folder = os.environ.get("PATCHKIT_CACHE")
    if not folder:
        windows = os.name == "nt"
        variable, default = (
            ("LOCALAPPDATA", "~/AppData/Local") if windows else ("XDG_CACHE_HOME", "~/.cache")
        )
        caches = os.environ.get(variable) or os.path.expanduser(default)
        folder = os.path.join(caches, "patchkit")
    return folder if os.path.isabs(folder) else ""


@contextlib.contextmanager
def cached_lookups() -> Iterator[None]:
    """Look up each version and each folder only once within the block.

    A catalogue asks for the same few distributions and folders again and again; but between two
    calls of a user anything may be installed.
    """
    outer = _look_ups.results
    try:
        _look_ups.results = {} if outer is None else outer
        yield
    finally:
        _look_ups.results = outer


_Result = TypeVar("_Result")


def cached_lookup(look_up: Callable[[str], _Result]) -> Callable[[str], _Result]:
    """Let a look-up be made only once within a block of `cached_lookups`."""

    @functools.wraps(look_up)
    def find(name: str) -> _Result:
        results = _look_ups.results
        if results is None:
            return look_up(name)
        if (look_up, name) not in results:
            results[look_up, name] = look_up(name)
        result: _Result = results[look_up, name]
        return result

    return find


@cached_lookup
def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None if it is absent."""
    from importlib import metadata

    try:
        found = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return None
    # The library parses the whole file, with the description, which takes ten times as long.
    written = re.search(_VERSION, found.read_text("METADATA") or "")
    return written[1] if written else found.version


def distribution_of(module: str) -> str:
    """Return the distribution that a module came with, as `ms-swift 4.6.0`; empty if none has it.

    Where none has the name of the package, this reads the records of all that is installed.
    """
    from importlib import metadata

    package = module.partition(".")[0]
    owners = [package]
    if installed_version(package) is None:
        owners = metadata.packages_distributions().get(package, [])
    return f"{canonical(owners[0])} {installed_version(owners[0])}" if owners else ""


def canonical(distribution: str) -> str:
    """Return the name of a distribution in the one spelling that all others stand for."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


class Distribution(NamedTuple):
    """The record of an installed distribution.

    Args:
        name: its name, canonical.
        version: its version.
        requires: its requirements, as written; those of all its extras, too.
        commands: the names of the commands that it installs.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def installed_distributions() -> dict[str, Distribution]:
    """Read the records of all that is installed, by canonical name."""
    from importlib import metadata

    found: dict[str, Distribution] = {}
    for installed in metadata.distributions():
        head = (installed.read_text("METADATA") or installed.read_text("PKG-INFO") or "") + "\n\n"
        head = head.partition("\n\n")[0]
        name, version = re.search(_NAME, head), re.search(_VERSION, head)
        if name is None or version is None or canonical(name[1]) in found:
            continue  # what is first on the path is what is imported
        _, _, scripts = (installed.read_text("entry_points.txt") or "").partition(
            "[console_scripts]"
        )
        commands = tuple(re.findall(_COMMAND, scripts.partition("[")[0]))
        requires = tuple(re.findall(_REQUIRES, head))
        key = canonical(name[1])
        found[key] = Distribution(key, version[1], requires, commands)
    return found


def frameworks(installed: Mapping[str, Distribution] | None = None) -> dict[str, Distribution]:
    """Return the distributions that require a library that patchkit fixes, by canonical name.

    What requires most of them comes first, and of two what no other requires: a user trains with
    it, and it is built on the others. A requirement of an extra does not count, and neither do the
    libraries themselves and patchkit.

    Args:
        installed: the records, if they were read already.
    """
    installed = installed_distributions() if installed is None else installed
    patched = {canonical(name) for name in with_role("patched")}
    none = {canonical(name) for name in (*LIBRARIES, DISTRIBUTION)} - {"unsloth", "unsloth-zoo"}
    required = {
        name: {
            canonical(found[0])
            for text in distribution.requires
            if not re.search(_OF_AN_EXTRA, text) and (found := re.match(_REQUIRED, text))
        }
        for name, distribution in installed.items()
        if name not in none
    }
    built = {name: names for name, names in required.items() if names & patched}
    below = set().union(*built.values())
    order = sorted(built, key=lambda name: (-len(built[name] & patched), name in below))
    return {name: installed[name] for name in order}


def python_and_platform() -> dict[str, str]:
    """Return the version of Python, and system and architecture as in "linux-x86_64"."""
    import platform

    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()}-{platform.machine()}".lower(),
    }


@functools.lru_cache(maxsize=4096)
def in_range(version: str, versions: str) -> bool:
    """Tell whether a version lies in a PEP 440 range; a pre-release counts as its release.

    By PEP 440 itself `0.27.0rc1` would lie neither in `<0.27` nor in `>=0.27`. A range that names
    a pre-release is taken literally.

    Raises:
        ValueError: the range or the version does not parse.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        specifiers, parsed = SpecifierSet(versions), Version(version)
        if parsed.is_prerelease and not specifiers.prereleases:
            parsed = Version(parsed.base_version)
        return bool(specifiers.contains(parsed, prereleases=True))
    except InvalidSpecifier:
        raise ValueError(f"{versions!r} is not a version range such as '>=0.26,<2'") from None
    except InvalidVersion:
        raise ValueError(f"{version!r} is not a version") from None


def readable_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None if it is absent.

    Raises:
        UnreadableVersion: it is there, and its version does not parse.
    """
    version = installed_version(distribution)
    if version is not None and not is_version(version):
        raise UnreadableVersion(distribution, version)
    return version


def is_version(text: str) -> bool:
    """Tell whether a text is a version by PEP 440."""
    from packaging.version import InvalidVersion, Version

    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def below_range(version: str, versions: str) -> bool:
    """Tell whether a version is older than the beginning of a PEP 440 range."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    found = Version(version)
    return any(
        specifier.operator in (">=", ">", "==", "~=")
        and found < Version(specifier.version.removesuffix(".*"))
        for specifier in SpecifierSet(versions)
    )


def check_range(patch_id: str, versions: str, where: str = "affects") -> None:
    """Raise PatchDefinitionError, naming the patch and its field, if a range does not parse."""
    try:
        in_range("0", versions)
    except ValueError as error:
        raise PatchDefinitionError(f"patch {patch_id!r}: `{where}`: {error}") from None


@cached_lookup
def modules_matching(pattern: str) -> list[str]:
    """Return the names of the modules of an installed package without importing any.

    Args:
        pattern: a dotted name, or a shell glob whose first part is literal and whose `*` crosses
            dots: `trl.*_trainer`.
    """
    wildcard = re.search(r"[*?\[]", pattern)
    if wildcard is None:
        return [pattern]
    package, *below = pattern[: wildcard.start()].split(".")[:-1]
    names: list[str] = []
    name = ".".join([package, *below])
    for root in _search_path(package):
        if os.path.isdir(root):
            names += sorted(_modules_below(os.path.join(root, *below), name))
        else:
            names += sorted(_modules_inside("/".join([root, *below]), name))
    return fnmatch.filter(names, pattern)


def _modules_below(folder: Path | str, name: str) -> Iterator[str]:
    """Yield the modules in a folder and those below it, six times as fast as `rglob`."""
    try:
        entries = os.scandir(folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                stem = entry.name.removesuffix(".py")
                yield name if stem == "__init__" else f"{name}.{stem}"
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                yield from _modules_below(entry.path, f"{name}.{entry.name}")


def _modules_inside(location: str, name: str) -> Iterator[str]:
    """Yield the modules in something other than a folder, such as a zip file."""
    import pkgutil

    for module in pkgutil.iter_modules([location]):
        yield f"{name}.{module.name}"
        if module.ispkg:
            yield from _modules_inside(f"{location}/{module.name}", f"{name}.{module.name}")


def module_file(module: str) -> Path | None:
    """Return the source file of an installed module without importing it."""
    path = module_path(module)
    return Path(path) if path else None


def module_path(module: str) -> str:
    """Return the path of a module's source file without importing it; empty if there is none."""
    package, _, rest = module.partition(".")
    if not rest and (alone := _single_file(package)):
        return alone
    for root in _search_path(package):
        place = os.path.join(root, *rest.split(".")) if rest else root
        for file in (os.path.join(place, "__init__.py"), f"{place}.py"):
            if os.path.isfile(file):
                return file
    return ""


def short_name(module: str, file: Path | None) -> str:
    """Return a module's file as messages show it: `trl/trainer/utils.py`, `trl/__init__.py`."""
    package = file is not None and file.stem == "__init__"
    return module.replace(".", "/") + ("/__init__.py" if package else ".py")


def module_is_absent(module: str) -> bool:
    """Tell whether a module cannot be imported, as far as that shows without importing anything."""
    if type(sys.modules.get(module)) is ModuleType:
        return False
    package, _, rest = module.partition(".")
    if package not in sys.modules and _spec(package) is None:
        return True
    roots = list(_locations(package))
    if not roots or not rest or module_path(module):
        return False
    suffixes = importlib.machinery.all_suffixes()
    for root in roots:
        place = root.joinpath(*rest.split("."))
        if place.is_dir() or any(place.with_name(place.name + end).exists() for end in suffixes):
            return False
    return True


def _single_file(name: str) -> str:
    spec = _spec(name)
    if spec is None or spec.submodule_search_locations or not spec.has_location:
        return ""
    file = spec.origin or ""
    return file if file.endswith(".py") and os.path.isfile(file) else ""


def _locations(package: str) -> Iterator[Path]:
    return (Path(place) for place in _search_path(package) if os.path.isdir(place))


def _search_path(package: str) -> list[str]:
    """Return where the modules of a package are looked for: folders, and paths inside zip files."""
    spec = _spec(package)
    return list((spec and spec.submodule_search_locations) or ())


@cached_lookup
def _spec(package: str) -> importlib.machinery.ModuleSpec | None:
    """Return where a top-level package or module would be imported from, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if not isinstance(spec, importlib.machinery.ModuleSpec) and package in sys.modules:
        # A stand-in module has no spec, or makes one up.
        spec = importlib.machinery.PathFinder.find_spec(package)
    return spec if isinstance(spec, importlib.machinery.ModuleSpec) else None


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Hold off garbage collection while thousands of small objects are made: syntax trees, facts.

    Each collection that they trigger would walk the whole heap, torch and all libraries included,
    and the first one afterwards all that was made meanwhile, most of which stays.
    """
    enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():  # by whom else they are held is not ours to end
                gc.freeze()
                gc.unfreeze()  # as old objects
            gc.enable()
