"""Finds patch definitions: those shipped with patchkit, and those of other distributions."""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .environment import check_range
from .errors import PatchDefinitionError, PatchError, UnknownPatchError, UsageError
from .patch import Patch
from .settings import Setting

ENTRY_POINT_GROUP = "patchkit.patches"
_SHIPPED = "patchkit.patches"


@dataclass(frozen=True)
class Entry:
    """A patch, and where it was defined.

    Args:
        patch: the definition.
        module: name of the module that holds it.
        reproduce: shows the bug: raises without the patch, returns with it.
    """

    patch: Patch
    module: str
    reproduce: Callable[[], object] | None


@dataclass(frozen=True)
class Broken:
    """A definition that cannot be used, and why."""

    name: str
    error: PatchError


@dataclass(frozen=True)
class Catalogue:
    """All known patches by id, and the definitions that could not be read."""

    entries: dict[str, Entry]
    broken: tuple[Broken, ...] = ()

    @property
    def settings(self) -> list[Setting]:
        return [setting for entry in self for setting in entry.patch.settings]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def named(self, names: str | Iterable[str] | None, argument: str) -> set[str]:
        """The ids that a selection means.

        Args:
            names: ids and shell globs.
            argument: what the user calls the selection, for the message.

        Raises:
            UsageError: the selection is not made of strings.
            UnknownPatchError: a name matches no patch.
        """
        if names is None:
            return set()
        if isinstance(names, str):
            names = [names]
        try:
            names = list(names)
        except TypeError:
            raise UsageError(
                f"{argument} takes a patch id, a glob such as 'trl-*', or several of them, "
                f"not {names!r}"
            ) from None
        chosen: set[str] = set()
        for name in names:
            if not isinstance(name, str):
                raise UsageError(f"{argument} takes patch ids and globs, not {name!r}")
            found = fnmatch.filter(self.entries, name)
            if not found:
                raise UnknownPatchError(
                    f"{argument} names no patch: {name!r}. {self._nearest(name)}"
                )
            chosen.update(found)
        return chosen

    def _nearest(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.entries, n=3, cutoff=0.4)
        if near:
            return f"Did you mean {' or '.join(map(repr, near))}?"
        return f"There are: {', '.join(sorted(self.entries)) or 'none'}."


def load() -> Catalogue:
    """Read all definitions. One that cannot be read is set aside and does not stop the others."""
    entries: dict[str, Entry] = {}
    settings: dict[str, Setting] = {}
    broken: list[Broken] = []
    for name, fetch in [*_shipped(), *_of_other_distributions()]:
        try:
            entry = _entry(fetch(), name)
            twin = entries.get(entry.patch.id)
            if twin is not None:
                raise PatchDefinitionError(
                    f"patch {entry.patch.id!r} is defined twice: in {twin.module} and {name}"
                )
            for setting in entry.patch.settings:
                if settings.get(setting.name, setting) != setting:
                    raise PatchDefinitionError(
                        f"patch {entry.patch.id!r} defines the setting {setting.name!r} otherwise "
                        "than another patch does"
                    )
        except PatchError as error:
            broken.append(Broken(name, error))
        except Exception as error:
            reason = PatchDefinitionError(
                f"the patch file {name} cannot be imported: {type(error).__name__}: {error}"
            )
            reason.__cause__ = error
            broken.append(Broken(name, reason))
        else:
            entries[entry.patch.id] = entry
            settings.update((one.name, one) for one in entry.patch.settings)
    return Catalogue(entries, tuple(broken))


def _entry(module: ModuleType, name: str) -> Entry:
    patch = getattr(module, "PATCH", None)
    if not isinstance(patch, Patch):
        raise PatchDefinitionError(
            f"the patch file {name} defines no PATCH = Patch(...); a file that is no patch "
            "begins with an underscore"
        )
    for versions in [*patch.affects.values(), *(change.affects for change in patch.changes)]:
        check_range(patch.id, versions)
    for versions in patch.harmless.values():
        check_range(patch.id, versions, "harmless")
    return Entry(patch, module.__name__, getattr(module, "reproduce", None))


def _shipped() -> Iterator[tuple[str, Callable[[], ModuleType]]]:
    package = shipped_package()
    for found in pkgutil.walk_packages(package.__path__, f"{_SHIPPED}."):
        if not found.ispkg and not found.name.rpartition(".")[2].startswith("_"):
            yield found.name, _importing(found.name)


def _importing(name: str) -> Callable[[], ModuleType]:
    return lambda: importlib.import_module(name)


def _of_other_distributions() -> Iterator[tuple[str, Callable[[], ModuleType]]]:
    from importlib import metadata

    for entry_point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        yield entry_point.value, entry_point.load


def shipped_package() -> ModuleType:
    """The package `patchkit.patches`: inside a wheel, or beside the engine in a checkout."""
    try:
        return importlib.import_module(_SHIPPED)
    except ModuleNotFoundError as error:
        if error.name != _SHIPPED:
            raise
    folder = Path(__file__).resolve().parent.parent / "patches"
    spec = importlib.util.spec_from_file_location(
        _SHIPPED, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None or not folder.is_dir():
        raise PatchDefinitionError("this installation of patchkit lacks its patches; reinstall it")
    package = importlib.util.module_from_spec(spec)
    sys.modules[_SHIPPED] = package
    spec.loader.exec_module(package)
    return package
