"""The layer in this process: switch it on and off, and guard what is imported."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from .choice import Choice
from .guarding.changed import ChangedAttributes, restore_variables
from .guarding.classes import derived_from, has_generated_constructor, watch
from .guarding.former_attributes import answer_for, take_for
from .guarding.guard import Guarded, GuardedFunction, GuardedMethod
from .guarding.names import Names
from .kept import KeptFacts, due_here
from .plain import PlainData
from .uses import Journal, LegacyUse
from .versions.due import Due, MethodRows

if TYPE_CHECKING:
    from .converting.redeclared import Fields
    from .versions.written_for import WrittenFor


class LayerChoice(PlainData):
    """The choice of a user, with the rows of the table that it needs.

    Args:
        choice: True, or the versions that a script was written for.
        due: the rows of the table for the installed releases.
        written_for: the releases that the choice names, if it names any.
    """

    choice: bool | str
    due: Due
    written_for: WrittenFor | None = None


def prepare(choice: Choice, facts: KeptFacts, table: str) -> LayerChoice | None:
    """Read the table and look up the installed releases; None if the layer is to be off.

    Args:
        choice: what the user wants.
        facts: what processes keep for each other.
        table: names the state of the table; empty if that is unknown.

    Raises:
        UsageError: it names versions that make no sense.
    """
    if not choice:
        return None
    written_for = None
    if isinstance(choice, str):
        from .versions.written_for import parse

        written_for = parse(choice)
    return LayerChoice(choice, due_here(facts, table), written_for)


class Layer:
    """A listener of imports that guards the classes and functions of each imported module."""

    def __init__(self) -> None:
        self.wanted: LayerChoice | None = None
        self._journal = Journal()
        self._changed = ChangedAttributes()
        self._names: Names | None = None
        self._seen: weakref.WeakSet[ModuleType] = weakref.WeakSet()

    def become(self, wanted: LayerChoice | None) -> None:
        """Switch the layer on as wanted, or off; may be called again after an interruption."""
        if wanted is None or (self.wanted is not None and wanted.choice != self.wanted.choice):
            self._switch_off()
        if wanted is not None and self._names is None:
            self._switch_on(wanted)

    def _switch_on(self, wanted: LayerChoice) -> None:
        self.wanted = wanted
        names = Names(wanted.due.places, self._journal, self._changed)
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
        self._journal.clear()

    def uses(self) -> tuple[LegacyUse, ...]:
        """Return the old spellings that the script used."""
        return self._journal.uses()

    def packages(self) -> frozenset[str]:
        return frozenset() if self.wanted is None else self.wanted.due.packages

    def wants(self, name: str) -> bool:
        return self.wanted is not None and self.wanted.due.concerns(name)

    def before_import(self, package: str) -> None:
        """Do nothing: the layer changes modules after they are imported."""

    def after_import(self, name: str, module: ModuleType) -> None:
        if self._names is None or module in self._seen:
            return
        self._seen.add(module)
        self._names.answer_for(module)
        # A class may have two names here, an old one and a new one.
        classes = dict.fromkeys(cls for cls in vars(module).values() if isinstance(cls, type))
        for cls in classes:
            if cls.__module__ == name:
                self._guard(cls)
        self._guard_functions(module)

    def _guard_functions(self, module: ModuleType) -> None:
        """Guard the functions that a module defines."""
        assert self.wanted is not None
        wanted = self.wanted
        package = module.__name__.partition(".")[0]
        for name, rows in wanted.due.functions_of(package).items():
            function = vars(module).get(name)
            if isinstance(function, FunctionType | MethodType) and (
                function.__module__ == module.__name__
            ):
                checked = self._checked(GuardedMethod(module, name), rows)
                guarded = GuardedFunction(function, checked, lambda: self.wanted is wanted)
                self._changed.replace(function, guarded)

    def _guard(self, cls: type) -> None:
        assert self.wanted is not None
        if not self.wanted.due.has_any(cls):
            return
        answer_for(cls, self.wanted.due.attributes_of(cls), self._journal, self._changed)
        take_for(cls, self.wanted.due.assigned_of(cls), self._journal, self._changed)
        for method, rows in self.wanted.due.methods_of(cls).items():
            if method in vars(cls):
                checked = self._checked(GuardedMethod(cls, method), rows)
                self._changed.change(cls, method, Guarded(vars(cls)[method], checked))
        for derived in derived_from(cls):
            self._guard_derived(derived)

    def _guard_derived(self, cls: type) -> None:
        """Guard the constructor of a configuration that a script derives from a library's."""
        assert self.wanted is not None
        if not has_generated_constructor(cls):
            return
        rows = self.wanted.due.methods_of(cls).get("__init__")
        if rows is not None:
            from .converting.redeclared import left_to_the_layer, own_rows, redeclared

            own = redeclared(cls)
            converted = left_to_the_layer(cls, own)
            checked = self._checked(GuardedMethod(cls, "__init__"), own_rows(rows, own), converted)
            self._changed.change(cls, "__init__", Guarded(vars(cls)["__init__"], checked))

    def _checked(
        self, method: GuardedMethod, rows: MethodRows, own: Fields = MappingProxyType({})
    ) -> Callable[..., Any]:
        assert self.wanted is not None
        call_it, wanted, journal, changed = method.call, self.wanted, self._journal, self._changed
        old_fields = {*rows.keywords, *(row.name for row in rows.values)} if own else ()
        has_old_fields = not own.keys().isdisjoint(old_fields)
        may_concern = rows.watch()

        def checked(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
            if not has_old_fields and not may_concern(args, kwargs):
                return call_it(instance, *args, **kwargs)
            from .converting.carrying_out import carry_out  # all that few calls need

            fields = own if has_old_fields else None
            return carry_out(method, instance, args, kwargs, rows, fields, wanted, changed, journal)

        return checked


LAYER = Layer()
