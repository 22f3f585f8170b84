"""The rows of the table that concern the installed releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import TypeVar

from ...environment import installed_version, is_version
from ..changes import (
    Adjusted,
    Assigned,
    Attribute,
    Behaviour,
    Change,
    Default,
    Gone,
    Keyword,
    Moved,
    Order,
    Owned,
    Value,
)
from ..decisions import of_trainer, other_way_round, passed_to_configuration
from ..outline import public_names
from ..places import Places
from ..rows import guarded_modules

_Row = TypeVar("_Row", bound=Change)
_ATTRIBUTES = (Attribute, Assigned)


def known_release(library: str) -> str | None:
    """Return the installed release; None if it is absent, or its version does not parse."""
    version = installed_version(library)
    return version if version is not None and is_version(version) else None


class MethodRows:
    """The rows for one method.

    Attributes:
        keywords: by the keyword that scripts use.
        values: old values of keywords.
        orders: old orders of positional arguments, the newest first.
        behaviours: changes without an error.
        defaults: defaults that have changed, by keyword.
        adjusted: combinations of arguments to look for in each call.
    """

    def __init__(self) -> None:
        self.keywords: dict[str, Keyword] = {}
        self.values: list[Value] = []
        self.orders: list[Order] = []
        self.behaviours: list[Behaviour] = []
        self.defaults: dict[str, Default] = {}
        self.adjusted: list[Adjusted] = []

    def add(self, row: Owned) -> None:
        """Add a row; it goes before one of the same name that is there."""
        if isinstance(row, Keyword):
            self.keywords[row.name] = row
        elif isinstance(row, Value):
            self.values.append(row)
        elif isinstance(row, Order):
            self.orders.append(row)
        elif isinstance(row, Behaviour):
            self.behaviours.append(row)
        elif isinstance(row, Default):
            self.defaults[row.name] = row
        elif isinstance(row, Adjusted):
            self.adjusted.append(row)


class Due:
    """The rows of the table for the installed releases.

    Args:
        rows: all rows.
        version_of: returns the release of a library; None if it is not there, or unknown.
        known: rows before these, which are due.
    """

    def __init__(
        self,
        rows: Iterable[Change],
        version_of: Callable[[str], str | None] = known_release,
        known: Iterable[Change] = (),
    ) -> None:
        self.rows = (*known, *due_rows(rows, version_of))
        self._version_of = version_of
        # Each class of each module is asked about.
        self.by_owner: dict[str, list[tuple[str, Owned]]] = {}
        self._methods_by_owner: dict[str, list[tuple[str, Owned]]] = {}
        for row in self.of(Owned):
            is_method = not isinstance(row, _ATTRIBUTES)
            for owner, method in _owners(row):
                self.by_owner.setdefault(owner, []).append((method, row))
                if is_method:
                    self._methods_by_owner.setdefault(owner, []).append((method, row))
        self._of_configurations: dict[str, MethodRows] = {}
        releases = {row.gone for row in self.rows}
        self.packages = frozenset([release.partition(" ")[0] for release in releases])

    def of(self, *classes: type[_Row]) -> list[_Row]:
        """Return the rows of these classes."""
        return [row for row in self.rows if isinstance(row, classes)]

    def is_due(self, change: str) -> bool:
        """Tell whether a library is at a release, as `trl 0.12.0`, or at a later one."""
        version = self._version_of(change.partition(" ")[0])
        return version is not None and _has(version, _number(change))

    @cached_property
    def places(self) -> Places:
        """Where names and modules are today."""
        return Places(self.of(Moved, Gone))

    @property
    def modules(self) -> frozenset[str]:
        """The modules that have what a row is about, but for those of TRL, which all may."""
        return guarded_modules() | {name.rpartition(".")[0] for name in self.places.names()}

    def methods_of(self, cls: type) -> dict[str, MethodRows]:
        """Return the rows for the methods of a class."""
        return self.methods(public_names(cls))

    def attributes(self, ancestors: Sequence[str]) -> dict[str, Attribute]:
        """Return the rows for attributes, by name; the arguments are those of `methods`."""
        return {
            row.name: row
            for ancestor in reversed(ancestors)
            for _, row in self.by_owner.get(ancestor, ())
            if isinstance(row, Attribute)
        }

    def assigned(self, owner: str) -> dict[str, Assigned]:
        """Return the rows for the attributes of a class that scripts set, by name."""
        rows = self.by_owner.get(owner, ())
        return {row.name: row for _, row in rows if isinstance(row, Assigned)}

    def methods(self, ancestors: Sequence[str]) -> dict[str, MethodRows]:
        """Return the same for the public names of a class and those that it derives from.

        The name of a package stands for its functions.
        """
        methods: dict[str, MethodRows] = {}
        for ancestor in reversed(ancestors):
            for method, row in self._methods_by_owner.get(ancestor, ()):
                if isinstance(row, Order) and ancestor != ancestors[0]:
                    continue  # a class that derives from it has an order of its own
                known = self._through(row, ancestors[0]) if isinstance(row, Keyword) else row
                if method not in methods:
                    methods[method] = MethodRows()
                methods[method].add(known)
        return methods

    def of_call(self, names: Sequence[str], method: str) -> MethodRows | None:
        """Return the rows for a call, if there are any.

        Args:
            names: the public names of the class and those that it derives from, or of a function
                and others that take its keywords.
            method: the method, `__init__`, or nothing for a function.
        """
        package = names[0].rpartition(".")[0]
        functions = {name.rpartition(".")[2] for name in names}
        found = self.methods(names).get(method or "__init__")
        for called, row in () if method else self.by_owner.get(package, ()):
            if called in functions:
                found = found or MethodRows()
                found.add(row)
        return found

    def _through(self, row: Keyword, trainer: str) -> Keyword:
        """Return the row of a trainer's keyword with the changes of its configuration's field."""
        field_name = passed_to_configuration(row)
        if not field_name:
            return row
        configuration = trainer.removesuffix("Trainer") + "Config"
        if configuration not in self._of_configurations:
            methods = self.methods([configuration])
            self._of_configurations[configuration] = methods.get("__init__", MethodRows())
        changed = self._of_configurations[configuration].keywords.get(field_name)
        return of_trainer(row, changed) if changed else row


def due_rows(rows: Iterable[Change], version_of: Callable[[str], str | None]) -> tuple[Change, ...]:
    """Return the rows that concern these releases, as they concern them."""
    look_up = cache(version_of)
    return tuple([due for row in rows if (due := _due(row, look_up)) is not None])


def _owners(row: Owned) -> Iterator[tuple[str, str]]:
    """Yield each class that a row is about, and the method."""
    for owner in row.owners:
        place, _, last = owner.rpartition(".")
        yield (place, last) if last.lstrip("_")[:1].islower() else (owner, "__init__")


def _due(row: Change, version_of: Callable[[str], str | None]) -> Change | None:
    """Return a row if it concerns the version here, reversed if that is older than the change."""
    version = version_of(row.library)
    if version is None:
        return None
    if isinstance(row, Default):
        return _known_to(version, row)
    if not row.is_understood and _has(version, _number(row.gone)):
        return row
    if row.since and not _has(version, _number(row.since)):
        if isinstance(row, Keyword):
            return other_way_round(row)
        if isinstance(row, Adjusted) and row.early:
            return row
    return None


def _known_to(version: str, row: Default) -> Default | None:
    """Return a row without the defaults that are newer than what is installed."""
    known = tuple(value for value in row.values if _has(version, value[0]))
    return row.replaced(values=known) if len(known) > 1 else None


def _number(release: str) -> str:
    return release.partition(" ")[2]


@cache
def _has(version: str, release: str) -> bool:
    """Tell whether a version includes a release: `in_range(version, f">={release}")`.

    A range takes ten times as long to make as two versions to compare.
    """
    from packaging.version import Version

    installed, first = Version(version), Version(release)
    if installed.is_prerelease and not first.is_prerelease:
        installed = Version(installed.base_version)
    return installed >= first
