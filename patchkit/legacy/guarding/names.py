"""Answer imports of names and modules that have moved or are gone."""

from __future__ import annotations

import importlib
import sys
import weakref
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..changes import Moved
from ..errors import GoneError
from ..places import FoundName, Places
from ..uses import Journal, Kind
from ..versions.version_sets import advice
from ..wording import since
from .attributes_of_modules import NameLookup, answer
from .changed import ChangedAttributes


class Names:
    """Answer for names that a library no longer has.

    The module itself and all finders are asked first, so that names that are there stay untouched.
    """

    def __init__(self, places: Places, journal: Journal, changed: ChangedAttributes) -> None:
        self._places = places
        self._journal = journal
        self._changed = changed
        self._within: dict[str, set[str]] = {}
        for name in places.names():
            place, _, last = name.rpartition(".")
            self._within.setdefault(place, set()).add(last)
        self._answered: weakref.WeakSet[ModuleType] = weakref.WeakSet()
        self._modules: list[str] = []
        self._finder = _FormerModuleFinder(self)

    def begin(self) -> None:
        """Answer for modules that no finder knows."""
        if self._finder not in sys.meta_path:
            sys.meta_path.append(self._finder)

    def end(self) -> None:
        """Stop answering."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._finder]
        self._answered.clear()
        for name in self._modules:
            former = sys.modules.get(name)
            if isinstance(former, _FormerModule):
                del sys.modules[name]
                parent, _, last = name.rpartition(".")
                if vars(sys.modules.get(parent, former)).get(last) is former:
                    delattr(sys.modules[parent], last)
        self._modules.clear()

    def answer_for(self, module: ModuleType) -> None:
        """Answer for names that a module does not have."""
        names = self._within.get(module.__name__)
        if names and module not in self._answered:
            self._answered.add(module)
            answer(module, frozenset(names), self._find, self._changed)

    def _find(self, name: str, lookup: NameLookup) -> Any:
        """Return the value of a name that has moved, by its old place.

        Raises:
            AttributeError: it is gone, or it is not where the table says.
            ImportError: the same, for an import statement.
        """
        found = self._places.exactly(name)
        assert found is not None
        if not found.is_gone:
            try:
                value = _look_up(found.place)
            except (ImportError, AttributeError) as error:
                problem: ImportError = self._astray(found, error)
                found = self._places.gone(name) or found
            else:
                if lookup is not NameLookup.AHEAD:
                    self._note(found)
                return value
        if found.is_gone:
            problem = self.gone(found, note=lookup in (NameLookup.READ, NameLookup.IMPORT))
        if lookup is NameLookup.IMPORT:
            raise problem
        raise AttributeError(str(problem))

    @staticmethod
    def _astray(found: FoundName, error: Exception) -> ImportError:
        row = found.row
        return ImportError(
            f"{row.name} {since(row)}; {found.place}, where patchkit looked for it, cannot be "
            f"imported: {error}"
        )

    def _note(self, found: FoundName) -> None:
        self._journal.note(found.row, Kind.FIXED, found.row.name, str(found))

    def gone(self, found: FoundName, *, note: bool = True) -> GoneError:
        """Return the error that says that a name is gone."""
        row = found.row
        message = f"{found} {advice(row)}".strip()
        if note:
            message = str(self._journal.note(row, Kind.REFUSED, row.name, message))
        return GoneError(message)

    def gone_name(self, name: str) -> FoundName | None:
        """Return the row of a name that is gone, unless it is somewhere else."""
        found = self._places.exactly(name)
        if found is not None and not found.is_gone and _is_there(found.place):
            return None
        return self._places.gone(name)

    def former_module(self, name: str) -> FoundName | None:
        """Return where a former module is today, or something that it held."""
        found = self._places.exactly(name)
        if found is not None and isinstance(found.row, Moved):
            return found if _is_module(found.place) else None
        return self._places.inside(name)

    def make(self, name: str) -> ModuleType:
        """Make a module in the place of a former one."""
        found = self._places.exactly(name)
        module = _FormerModule(name)
        module.__path__ = []
        if found is not None and not found.is_gone:
            current = importlib.import_module(found.place)
            self._note(found)
            module.__getattr__ = lambda attribute: getattr(current, attribute)  # type: ignore
        self._modules.append(name)
        return module


class _FormerModule(ModuleType):
    """A module that a library no longer has."""


class _FormerModuleFinder:
    """The last finder: it answers for modules that no other finder has."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = sys.modules.get(name.partition(".")[0])
        if package is not None:
            # Transformers puts another object in its own place while it is imported.
            self._names.answer_for(package)
        found = self._of_later_finders(name, path, target)
        if found is not None:
            return found
        gone = self._names.gone_name(name)
        if gone is not None:
            # `from trl import PPOTrainer` asks for this module, as the package has no such name.
            # From here an error reaches the script as it is.
            raise self._names.gone(gone)
        if self._names.former_module(name) is None:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def _of_later_finders(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Ask the finders that were added later: Transformers has one for its former modules."""
        later = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        specs = (finder.find_spec(name, path, target) for finder in later)
        return next((spec for spec in specs if spec is not None), None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._names.make(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        self._names.answer_for(module)


def _is_module(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def _is_there(name: str) -> bool:
    try:
        _look_up(name)
    except (ImportError, AttributeError):
        return _is_module(name)
    return True


def _look_up(name: str) -> Any:
    """Import what a dotted name stands for."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)
