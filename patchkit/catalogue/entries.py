"""The catalogue: patches shipped, those of other distributions, and a project's own."""

from __future__ import annotations

import difflib
import fnmatch
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..environment import check_range
from ..errors import PatchDefinitionError, PatchError, UnknownPatchError, UsageError
from ..patch import Patch
from ..settings import Setting, names_of
from .definitions import Definition, entry_point_definitions, shipped_definitions
from .fingerprint import fingerprint
from .folders import VARIABLE, definitions_in, paths_from_environment, resolve_paths

_IDS_SHOWN = 8
"""Ids that an error lists."""


class Entry(NamedTuple):
    """A patch, and where it was defined.

    Args:
        patch: the definition.
        module: name of the module that holds it.
        reproduce: shows the bug: raises without the patch, returns with it.
        file: the file in a project's own folder; empty if the patch is installed.
        reproduce_anywhere: shows the part of the bug that needs nothing of the machine; None if
            there is no such part.
        kept_as: names the state of the files that the patch may consist of, for what is kept of
            its results; empty where that is not known.
    """

    patch: Patch
    module: str
    reproduce: Callable[[], object] | None
    file: str = ""
    reproduce_anywhere: Callable[[], object] | None = None
    kept_as: str = ""

    @property
    def place(self) -> str:
        """The file or module, for messages."""
        return self.file or self.module


class Broken(NamedTuple):
    """A definition that cannot be used, and why."""

    name: str
    error: PatchError


class Catalogue:
    """All known patches by id, and the definitions that could not be read."""

    def __init__(self, entries: dict[str, Entry], broken: tuple[Broken, ...] = ()) -> None:
        self.entries = entries
        self.broken = broken

    @property
    def settings(self) -> list[Setting]:
        return [setting for entry in self for setting in entry.patch.settings]

    @property
    def opt_ins(self) -> list[str]:
        """The keywords of `apply` that turn on opt-in patches."""
        return sorted({entry.patch.opt_in for entry in self if entry.patch.opt_in})

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def matching_ids(self, names: str | Iterable[str] | None, argument: str) -> set[str]:
        """Return the ids that ids and globs match; `argument` names the selection in messages.

        Raises:
            UsageError: the selection is not made of strings.
            UnknownPatchError: a name matches no patch.
        """
        if names is None:
            return set()
        chosen: set[str] = set()
        for name in names_of(names, argument):
            matches = fnmatch.filter(self.entries, name)
            if not matches:
                raise UnknownPatchError(
                    f"{argument} names no patch: {name!r}. {self._nearest(name)}"
                )
            chosen.update(matches)
        return chosen

    def _nearest(self, name: str) -> str:
        for broken in self.broken:
            if name.replace("-", "_") in broken.name:
                return f"It cannot be read: {broken.error}"
        unread = "".join(f" Cannot be read: {broken.error}." for broken in self.broken[:1])
        near = difflib.get_close_matches(name, self.entries, n=3, cutoff=0.4)
        if near:
            return f"Did you mean {' or '.join(map(repr, near))}?{unread}"
        if len(self.entries) > _IDS_SHOWN:
            return f"`patchkit list` shows all {len(self.entries)}.{unread}"
        return f"There are: {', '.join(sorted(self.entries)) or 'none'}.{unread}"

    def with_definitions(self, definitions: Iterable[Definition]) -> Catalogue:
        """Return this catalogue with more definitions; unusable ones go to `broken`.

        A file that is here already, under whatever name, is skipped.
        """
        entries, broken = dict(self.entries), list(self.broken)
        settings = {setting.name: setting for setting in self.settings}
        for definition in definitions:
            if Catalogue(entries)._has(definition):
                continue
            name = definition.name
            broken = [other for other in broken if other.name != name]
            try:
                entry = _entry(definition)
                _check_against(entries, settings, entry)
            except PatchError as error:
                broken.append(Broken(name, error))
            except (Exception, SystemExit) as error:
                reason = PatchDefinitionError(
                    f"the patch file {name} cannot be imported: {type(error).__name__}: {error}"
                )
                reason.__cause__ = error
                broken.append(Broken(name, reason))
            else:
                entries[entry.patch.id] = entry
                settings.update((setting.name, setting) for setting in entry.patch.settings)
        return Catalogue(entries, tuple(broken))

    def prefetch_new(self, definitions: Iterable[Definition]) -> list[Definition]:
        """Import the definitions that are not here yet, and return them."""
        return [definition.prefetch() for definition in definitions if not self._has(definition)]

    def _has(self, definition: Definition) -> bool:
        return bool(definition.file) and definition.file in map(_file, self)

    def with_valid(self, definitions: Iterable[Definition]) -> Catalogue:
        """Return this catalogue with more definitions, all of which must be usable.

        Raises:
            PatchDefinitionError: one is not.
        """
        before = {id(broken) for broken in self.broken}
        catalogue = self.with_definitions(definitions)
        for broken in catalogue.broken:
            if id(broken) not in before:
                raise broken.error
        return catalogue


def load() -> Catalogue:
    """Read all definitions. One that cannot be read is set aside and does not stop the others."""
    installed = Catalogue({}).with_definitions([*shipped_definitions(), *entry_point_definitions()])
    local: list[Definition] = []
    missing: list[Broken] = []
    for path in paths_from_environment():
        try:
            local += definitions_in(resolve_paths(path))
        except UsageError as error:
            missing.append(Broken(path, UsageError(f"{VARIABLE}: {error}")))
    known = installed.with_definitions(local)
    return Catalogue(known.entries, (*known.broken, *missing))


def _entry(definition: Definition) -> Entry:
    module = definition.fetch()
    if isinstance(module, Patch):
        module_name = definition.name.partition(":")[0]
        raise PatchDefinitionError(
            f"the entry point {definition.name} names a patch; it must name the module, "
            f"{module_name}"
        )
    patch = getattr(module, "PATCH", None)
    if not isinstance(patch, Patch):
        raise PatchDefinitionError(
            f"the patch file {definition.name} defines no PATCH = Patch(...); the name of a helper "
            "file must begin with an underscore"
        )
    if not definition.is_shipped:  # the tests have looked at those
        patch.check_symptom()
        check_ranges(patch)
    return Entry(
        patch,
        module.__name__,
        getattr(module, "reproduce", None),
        definition.file,
        getattr(module, "reproduce_anywhere", None),
        fingerprint(definition, module),
    )


def check_ranges(patch: Patch) -> None:
    """Raise PatchDefinitionError if a range of versions does not parse."""
    for versions in [*patch.affects.values(), *(change.affects for change in patch.changes)]:
        check_range(patch.id, versions)
    for versions in patch.harmless.values():
        check_range(patch.id, versions, "harmless")


def _check_against(
    entries: Mapping[str, Entry], settings: Mapping[str, Setting], entry: Entry
) -> None:
    """Raise PatchDefinitionError if a definition contradicts an earlier one."""
    patch = entry.patch
    if twin := entries.get(patch.id):
        raise PatchDefinitionError(
            f"patch {patch.id!r} is defined twice: in {twin.place} and {entry.place}"
        )
    opt_ins = {patch.opt_in, *(known.patch.opt_in for known in entries.values())}
    names = {*settings, *(setting.name for setting in patch.settings)}
    for name in sorted(opt_ins & names):
        raise PatchDefinitionError(
            f"patch {patch.id!r}: {name!r} would be both a setting and an opt-in keyword"
        )
    for setting in patch.settings:
        if settings.get(setting.name, setting) != setting:
            raise PatchDefinitionError(
                f"patch {patch.id!r} and another patch define the setting {setting.name!r} "
                "differently"
            )


def _file(entry: Entry) -> str:
    """Return the path of the file that defines a patch, or an empty string."""
    file = getattr(sys.modules.get(entry.module), "__file__", None)
    return str(Path(file).resolve()) if file else ""
