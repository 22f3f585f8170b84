"""Names and modules that libraries no longer have: be asked for them."""

from __future__ import annotations

import importlib
import sys
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .changed import ChangedAttributes

if TYPE_CHECKING:
    from types import FrameType
    from typing import Protocol

    class KnowsNames(Protocol):
        """What knows where the names are today: `names.Names`, which few processes import."""

        def forget_modules(self) -> None: ...
        def note(self, name: str) -> None: ...
        def read(self, name: str, frame: FrameType, upstream: AttributeError) -> Any: ...
        def is_gone(self, module: str) -> bool: ...
        def is_wanted(self, name: str, asking: FrameType) -> bool: ...
        def make(self, name: str) -> ModuleType: ...


STRUCTURE = "transformers._import_structure"
"""Which names each module of Transformers has. Some scripts ask for it by folder."""


class FormerNames:
    """Be asked for names that a library no longer has.

    The module itself and all finders are asked first, so that names that are there stay untouched.

    Args:
        within: the names, by the module that they were in.
        former: the names, and the modules above them.
        structure: the place of today's `STRUCTURE`; empty if nothing stands for it.
        names: returns what knows where they are today; called with the first question.
        changed: remembers the attributes and classes that are set.
    """

    def __init__(
        self,
        within: Mapping[str, Collection[str]],
        former: Collection[str],
        structure: str,
        names: Callable[[], KnowsNames],
        changed: ChangedAttributes,
    ) -> None:
        self._within = within
        self._former = former
        self._structure = structure
        self._make_names = names
        self._changed = changed
        self._answered: weakref.WeakSet[ModuleType] = weakref.WeakSet()
        self._finder = _FormerModuleFinder(self)

    @cached_property
    def names(self) -> KnowsNames:
        return self._make_names()

    def begin(self) -> None:
        """Be asked for modules that no finder knows."""
        if self._finder not in sys.meta_path:
            sys.meta_path.append(self._finder)

    def end(self) -> None:
        """Answer no longer."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._finder]
        self._answered.clear()
        if "names" in vars(self):
            self.names.forget_modules()

    def answer_for(self, module: ModuleType) -> None:
        """Be asked for names that a module does not have."""
        names = self._within.get(module.__name__)
        if not names or module in self._answered:
            return
        self._answered.add(module)
        names = frozenset(names)
        if hasattr(type(module), "__getattr__"):
            # A class's own __getattr__ has the last word, and its error would hide ours.
            self._changed.change_class(module, self._answering(type(module), names))
        else:
            self._changed.change(module, "__getattr__", _Attributes(module, names, self))
        package, _, name = STRUCTURE.partition(".")
        if self._structure and module.__name__ == package and name in vars(module):
            place, _, last = self._structure.rpartition(".")
            structure = getattr(importlib.import_module(place), last)
            structure.told = lambda: self.names.note(STRUCTURE)
            self._changed.change(module, name, structure)

    def _answering(self, cls: type[ModuleType], names: frozenset[str]) -> type[ModuleType]:
        """Return a class of modules that asks here for names that `cls` has none for."""
        former = self

        def get_attribute(module: ModuleType, name: str) -> Any:
            try:
                return cls.__getattr__(module, name)
            except AttributeError as error:
                if name not in names:
                    raise
                upstream = error
            return former.names.read(f"{module.__name__}.{name}", sys._getframe(1), upstream)

        return type(
            cls.__name__,
            (cls,),
            {
                "__getattr__": get_attribute,
                "__module__": cls.__module__,
                "__qualname__": cls.__qualname__,
                "__doc__": cls.__doc__,
            },
        )

    def may_be_former(self, module: str) -> bool:
        """Tell whether a module, or one above it that a script has imported, may be a former one.

        Each module that some script looks for in vain is asked about.
        """
        above = module.rpartition(".")[0]
        return module in self._former or ("names" in vars(self) and self.names.is_gone(above))


class _Attributes:
    """The `__getattr__` of a module."""

    def __init__(self, module: ModuleType, names: frozenset[str], former: FormerNames) -> None:
        self.before: Any = vars(module).get("__getattr__")
        self._module = module.__name__
        self._names = names
        self._former = former

    def __call__(self, name: str) -> Any:
        module = self._module
        upstream = AttributeError(
            f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules.get(module)
        )
        if self.before is not None:
            try:
                return self.before(name)
            except AttributeError as error:
                upstream = error
        if name not in self._names:
            raise upstream
        return self._former.names.read(f"{module}.{name}", sys._getframe(1), upstream)


class _FormerModuleFinder:
    """The last finder: it answers for modules that no other finder has."""

    def __init__(self, former: FormerNames) -> None:
        self._former = former

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = sys.modules.get(name.partition(".")[0])
        if package is not None:
            # Transformers puts another object in its own place while it is imported.
            self._former.answer_for(package)
        found = self._of_later_finders(name, path, target)
        if found is not None or not self._former.may_be_former(name):
            return found
        if self._former.names.is_wanted(name, sys._getframe(1)):
            return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def _of_later_finders(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Ask the finders that were added later: Transformers has one for its former modules."""
        later = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        specs = (finder.find_spec(name, path, target) for finder in later)
        return next((spec for spec in specs if spec is not None), None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._former.names.make(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        self._former.answer_for(module)
