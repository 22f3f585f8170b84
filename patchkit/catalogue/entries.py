"""Finds patch definitions: those shipped, those of other distributions, and a project's own."""

from __future__ import annotations

import difflib
import fnmatch
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..environment import check_range
from ..errors import PatchDefinitionError, PatchError, UnknownPatchError, UsageError
from ..patch import Patch
from ..settings import Setting
from .definitions import Definition, of_other_distributions, shipped
from .folders import VARIABLE, checked, definitions, from_environment
from .names import names_of

_NAMED = 8
"""How many ids an error lists."""


@dataclass(frozen=True)
class Entry:
    """A patch, and where it was defined.

    Args:
        patch: the definition.
        module: name of the module that holds it.
        reproduce: shows the bug: raises without the patch, returns with it.
        file: the file, where a project keeps it in a folder; empty for what is installed.
        reproduce_anywhere: shows what shows of the bug on a machine that lacks what `reproduce`
            requires; None where nothing does.
    """

    patch: Patch
    module: str
    reproduce: Callable[[], object] | None
    file: str = ""
    reproduce_anywhere: Callable[[], object] | None = None

    @property
    def place(self) -> str:
        """What a message calls it."""
        return self.file or self.module


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

    @property
    def opt_ins(self) -> list[str]:
        """The keywords of `apply` that ask for patches which nobody gets unasked."""
        return sorted({entry.patch.opt_in for entry in self if entry.patch.opt_in})

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
        chosen: set[str] = set()
        for name in names_of(names, argument):
            found = fnmatch.filter(self.entries, name)
            if not found:
                raise UnknownPatchError(
                    f"{argument} names no patch: {name!r}. {self._nearest(name)}"
                )
            chosen.update(found)
        return chosen

    def _nearest(self, name: str) -> str:
        meant = [one for one in self.broken if name.replace("-", "_") in one.name]
        if meant:
            return f"It cannot be read: {meant[0].error}"
        unread = "".join(f" Cannot be read: {one.error}." for one in self.broken[:1])
        near = difflib.get_close_matches(name, self.entries, n=3, cutoff=0.4)
        if near:
            return f"Did you mean {' or '.join(map(repr, near))}?{unread}"
        if len(self.entries) > _NAMED:
            return f"`patchkit list` names all {len(self.entries)}.{unread}"
        return f"There are: {', '.join(sorted(self.entries)) or 'none'}.{unread}"

    def extended(self, definitions: Iterable[Definition]) -> Catalogue:
        """This catalogue and more definitions; one that cannot be used is among the broken.

        A file that is here already, under whatever name, is passed over.
        """
        entries, broken = dict(self.entries), list(self.broken)
        settings = {setting.name: setting for setting in self.settings}
        for one in definitions:
            if Catalogue(entries)._has(one):
                continue
            broken = [other for other in broken if other.name != one.name]
            try:
                entry = _entry(one)
                _check_against(entries, settings, entry)
            except PatchError as error:
                broken.append(Broken(one.name, error))
            except (Exception, SystemExit) as error:
                reason = PatchDefinitionError(
                    f"the patch file {one.name} cannot be imported: {type(error).__name__}: {error}"
                )
                reason.__cause__ = error
                broken.append(Broken(one.name, reason))
            else:
                entries[entry.patch.id] = entry
                settings.update((one.name, one) for one in entry.patch.settings)
        return Catalogue(entries, tuple(broken))

    def imported(self, definitions: Iterable[Definition]) -> list[Definition]:
        """Those that are not here yet, after their import: `fetch` only says what came of it."""
        return [one.imported() for one in definitions if not self._has(one)]

    def _has(self, definition: Definition) -> bool:
        return bool(definition.file) and definition.file in map(_file, self)

    def with_these(self, definitions: Iterable[Definition]) -> Catalogue:
        """This catalogue and more definitions, all of which must be usable.

        Raises:
            PatchDefinitionError: one is not.
        """
        before = {id(one) for one in self.broken}
        extended = self.extended(definitions)
        for one in extended.broken:
            if id(one) not in before:
                raise one.error
        return extended


def load() -> Catalogue:
    """Read all definitions. One that cannot be read is set aside and does not stop the others."""
    installed = Catalogue({}).extended([*shipped(), *of_other_distributions()])
    local: list[Definition] = []
    missing: list[Broken] = []
    for given in from_environment():
        try:
            local += in_places(checked(given))
        except UsageError as error:
            missing.append(Broken(given, UsageError(f"{VARIABLE}: {error}")))
    known = installed.extended(local)
    return Catalogue(known.entries, (*known.broken, *missing))


def in_places(paths: Iterable[Path]) -> list[Definition]:
    """The definitions in folders and files.

    Raises:
        UsageError: a folder has none.
    """
    return [definition for path in paths for definition in definitions(path)]


def _entry(definition: Definition) -> Entry:
    module = definition.fetch()
    if isinstance(module, Patch):
        named = definition.name.partition(":")[0]
        raise PatchDefinitionError(
            f"the entry point {definition.name} names a patch; it must name the module, {named}"
        )
    patch = getattr(module, "PATCH", None)
    if not isinstance(patch, Patch):
        raise PatchDefinitionError(
            f"the patch file {definition.name} defines no PATCH = Patch(...); a file that is no "
            "patch begins with an underscore"
        )
    for versions in [*patch.affects.values(), *(change.affects for change in patch.changes)]:
        check_range(patch.id, versions)
    for versions in patch.harmless.values():
        check_range(patch.id, versions, "harmless")
    return Entry(
        patch,
        module.__name__,
        getattr(module, "reproduce", None),
        definition.file,
        getattr(module, "reproduce_anywhere", None),
    )


def _check_against(
    entries: Mapping[str, Entry], settings: Mapping[str, Setting], entry: Entry
) -> None:
    """Raise PatchDefinitionError where a definition contradicts those before it."""
    patch = entry.patch
    if twin := entries.get(patch.id):
        raise PatchDefinitionError(
            f"patch {patch.id!r} is defined twice: in {twin.place} and {entry.place}"
        )
    opt_ins = {patch.opt_in, *(known.patch.opt_in for known in entries.values())}
    names = {*settings, *(setting.name for setting in patch.settings)}
    for name in sorted(opt_ins & names):
        raise PatchDefinitionError(
            f"patch {patch.id!r}: {name!r} would be a setting and the keyword of an opt-in patch"
        )
    for setting in patch.settings:
        if settings.get(setting.name, setting) != setting:
            raise PatchDefinitionError(
                f"patch {patch.id!r} defines the setting {setting.name!r} otherwise than another "
                "patch does"
            )


def _file(entry: Entry) -> str:
    """The file that defines a patch; empty where it is none."""
    file = getattr(sys.modules.get(entry.module), "__file__", None)
    return str(Path(file).resolve()) if file else ""
