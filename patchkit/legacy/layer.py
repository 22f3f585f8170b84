"""The layer in this process: switch it on and off, and guard what is imported."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from .choice import Choice
from .guarding.changed import ChangedAttributes, restore_variables
from .guarding.classes import derived_from, has_generated_constructor, watch
from .guarding.former_attributes import answer_for, take_for
from .guarding.former_names import FormerNames
from .guarding.guard import Guarded, GuardedMethod
from .guarding.proxies import GuardedFunction
from .kept import outline_here, watch_of
from .outline import Outline, Watched, check_of, public_names

if TYPE_CHECKING:
    from .converting.redeclared import Fields
    from .guarding.names import Names
    from .kept import KeptFacts
    from .uses import Journal, LegacyUse
    from .versions.due import Due, MethodRows
    from .versions.written_for import WrittenFor


class LayerChoice:
    """The choice of a user, with what it needs of the table.

    Args:
        choice: True, or the versions that a script was written for.
        outline: the names in the rows for the installed releases.
        written_for: the releases that the choice names, if it names any.
    """

    def __init__(
        self, choice: bool | str, outline: Outline, written_for: WrittenFor | None = None
    ) -> None:
        self.choice = choice
        self.outline = outline
        self.written_for = written_for

    @property
    def due(self) -> Due:
        """The rows for the installed releases."""
        due: Due = self.outline.due
        return due


def prepare(choice: Choice, facts: KeptFacts, state: str) -> LayerChoice | None:
    """Read what the layer needs of the table; None if it is to be off.

    Args:
        choice: what the user wants.
        facts: what processes keep for each other.
        state: names the state of the table and of what is installed; empty if that is unknown.

    Raises:
        UsageError: it names versions that make no sense.
    """
    if not choice:
        return None
    written_for = None
    if isinstance(choice, str):
        from .versions.written_for import parse

        written_for = parse(choice)
    return LayerChoice(choice, outline_here(facts, state), written_for)


class Layer:
    """A listener of imports that guards the classes and functions of each imported module."""

    def __init__(self) -> None:
        self.wanted: LayerChoice | None = None
        self._changed = ChangedAttributes()
        self._names: FormerNames | None = None
        self._seen: weakref.WeakSet[ModuleType] = weakref.WeakSet()

    @cached_property
    def _journal(self) -> Journal:
        from .uses import Journal  # few processes have anything to note

        return Journal()

    def become(self, wanted: LayerChoice | None) -> None:
        """Switch the layer on as wanted, or off; may be called again after an interruption."""
        if wanted is None or (self.wanted is not None and wanted.choice != self.wanted.choice):
            self._switch_off()
        if wanted is not None and self._names is None:
            self._switch_on(wanted)

    def _switch_on(self, wanted: LayerChoice) -> None:
        self.wanted = wanted
        outline = wanted.outline

        def make_names() -> Names:
            from .guarding.names import Names  # with the first question

            return Names(wanted.due.places, self._journal)

        names = FormerNames(
            outline.within, outline.former, outline.structure, make_names, self._changed
        )
        names.begin()
        self._names = names
        watch(self._guard_derived, self._changed)

    def _switch_off(self) -> None:
        self._changed.restore()
        restore_variables()
        if self._names is not None:
            self._names.end()
        self._seen.clear()
        self.wanted = self._names = None
        if "_journal" in vars(self):
            self._journal.clear()

    def uses(self) -> tuple[LegacyUse, ...]:
        """Return the old spellings that the script used."""
        return self._journal.uses() if "_journal" in vars(self) else ()

    def packages(self) -> frozenset[str]:
        return frozenset() if self.wanted is None else self.wanted.outline.packages

    def wants(self, name: str) -> bool:
        return self.wanted is not None and self.wanted.outline.concerns(name)

    def among(self, names: Iterable[str]) -> list[str]:
        """Return those of these modules that are wanted."""
        return [] if self.wanted is None else self.wanted.outline.among(names)

    def before_import(self, package: str) -> None:
        """Do nothing: the layer changes modules after they are imported."""

    def after_import(self, name: str, module: ModuleType) -> None:
        if self._names is None or module in self._seen:
            return
        self._seen.add(module)
        self._names.answer_for(module)
        # A class may have two names here, an old one and a new one.
        for cls in dict.fromkeys([cls for cls in vars(module).values() if isinstance(cls, type)]):
            if cls.__module__ == name:
                self._guard(cls)
        self._guard_functions(module)

    def _guard_functions(self, module: ModuleType) -> None:
        """Guard the functions that a module defines."""
        assert self.wanted is not None
        wanted = self.wanted
        package = [module.__name__.partition(".")[0]]
        for name, watched in wanted.outline.methods(package).items():
            function = vars(module).get(name)
            if isinstance(function, (FunctionType, MethodType)) and (
                function.__module__ == module.__name__
            ):
                checked = self._checked(GuardedMethod(module, name), watched, package)
                guarded = GuardedFunction(function, checked, lambda: self.wanted is wanted)
                self._changed.replace(function, guarded)

    def _guard(self, cls: type) -> None:
        assert self.wanted is not None
        wanted, names, changed = self.wanted, public_names(cls), self._changed
        outline = wanted.outline
        if not outline.has_any(names):
            return

        def read(instance: Any, name: str) -> Any:
            from .guarding.reading import read

            return read(instance, wanted.due.attributes(names)[name], self._journal)

        def assign(instance: Any, name: str, value: Any) -> Any:
            from .guarding.reading import assigned

            row = wanted.due.assigned(names[0])[name]
            return assigned(instance, row, value, self._journal)

        answer_for(cls, outline.attributes(names), read, changed)
        take_for(cls, outline.assigned(names[0]), assign, changed)
        for method, watched in outline.methods(names).items():
            if method in vars(cls):
                checked = self._checked(GuardedMethod(cls, method), watched, names)
                changed.change(cls, method, Guarded(vars(cls)[method], checked))
        for derived in derived_from(cls):
            self._guard_derived(derived)

    def _guard_derived(self, cls: type) -> None:
        """Guard the constructor of a configuration that a script derives from a library's."""
        assert self.wanted is not None
        names = public_names(cls)
        if not self.wanted.outline.has_any(names) or not has_generated_constructor(cls):
            return
        rows = self.wanted.due.methods(names).get("__init__")
        if rows is not None:
            from .converting.redeclared import left_to_the_layer, own_rows, redeclared

            own = redeclared(cls)
            fields, rows_of_it = left_to_the_layer(cls, own), own_rows(rows, own)
            old = {*rows_of_it.keywords, *(row.name for row in rows_of_it.values)}
            declared = None if old.isdisjoint(fields) else fields
            checks = [watch_of(rows_of_it, always=declared is not None)]
            method = GuardedMethod(cls, "__init__")
            checked = self._checked(method, checks, names, rows_of_it, declared)
            self._changed.change(cls, "__init__", Guarded(vars(cls)["__init__"], checked))

    def _checked(
        self,
        method: GuardedMethod,
        watched: Iterable[Watched],
        names: Sequence[str],
        rows: MethodRows | None = None,
        own: Fields | None = None,
    ) -> Callable[..., Any]:
        """Return what checks the calls of a method; its rows are read with the first old one."""
        assert self.wanted is not None
        call_it, wanted, changed = method.call, self.wanted, self._changed
        may_concern = check_of(watched)

        def checked(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
            if not may_concern(args, kwargs):
                return call_it(instance, *args, **kwargs)
            from .converting.carrying_out import carry_out  # all that few calls need

            nonlocal rows
            if rows is None:
                rows = wanted.due.methods(names)[method.name]
            return carry_out(
                method, instance, args, kwargs, rows, own, wanted, changed, self._journal
            )

        return checked


LAYER = Layer()
"""Let scripts that were written for older releases run on the installed libraries."""
