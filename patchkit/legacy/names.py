"""Names and modules that are found elsewhere today, or nowhere."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .changed import ChangedAttributes
from .changes import Gone, Moved
from .errors import GoneError
from .uses import Journal, Kind
from .version_sets import advice
from .wording import since


class Names:
    """Answer for names that a library has no more.

    A module is asked for a name first, and so is every finder: what is there stays as it is.

    Args:
        rows: what the table knows of the installed releases.
        journal: where uses are noted.
        changed: what is changed for that.
    """

    def __init__(
        self, rows: Iterable[Moved | Gone], journal: Journal, changed: ChangedAttributes
    ) -> None:
        self._rows: Mapping[str, Moved | Gone] = {row.name: row for row in rows}
        self._journal = journal
        self._changed = changed
        self._modules: list[str] = []
        self._finder = _Finder(self)

    def begin(self) -> None:
        """Answer for modules that no finder knows."""
        if self._finder not in sys.meta_path:
            sys.meta_path.append(self._finder)

    def end(self) -> None:
        """Answer no more."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._finder]
        for name in self._modules:
            former = sys.modules.get(name)
            if isinstance(former, _Former):
                del sys.modules[name]
                parent, _, last = name.rpartition(".")
                if vars(sys.modules.get(parent, former)).get(last) is former:
                    delattr(sys.modules[parent], last)
        self._modules.clear()

    def answer_for(self, module: ModuleType) -> None:
        """Answer for names that a module does not have."""
        prefix = module.__name__ + "."
        names = {
            name.removeprefix(prefix)
            for name in self._rows
            if name.startswith(prefix) and "." not in name.removeprefix(prefix)
        }
        if names and not isinstance(vars(module).get("__getattr__"), _Attributes):
            self._changed.change(module, "__getattr__", _Attributes(self, module, frozenset(names)))

    def find(self, name: str) -> Any:
        """Return what has moved.

        Args:
            name: its old place, with dots.

        Raises:
            AttributeError: it is gone, or it is not where the table says.
        """
        row = self._rows[name]
        if isinstance(row, Gone):
            raise AttributeError(str(self.gone(row)))
        try:
            found = _look_up(row.to)
        except (ImportError, AttributeError) as error:
            raise AttributeError(
                f"{name} {since(row)}; {row.to}, where patchkit looked for it, cannot be "
                f"imported: {error}"
            ) from error
        self._note(row)
        return found

    def _note(self, row: Moved) -> None:
        if row.to.startswith(__package__):
            advice = "patchkit has put its own in its place"
        else:
            module, _, last = row.to.rpartition(".")
            advice = f"write from {module} import {last}"
        if row.differs:
            advice = f"{advice}; {row.differs}"
        self._journal.note(row, Kind.MENDED, row.name, f"{row.name} {since(row)}; {advice}")

    def gone(self, row: Gone) -> GoneError:
        """Note that a script asks for what is gone, and return the error that says so."""
        message = f"{row.name} {since(row)}. {row.instead} {advice(row)}".strip()
        return GoneError(str(self._journal.note(row, Kind.REFUSED, row.name, message)))

    def gone_name(self, name: str) -> Gone | None:
        row = self._rows.get(name)
        return row if isinstance(row, Gone) else None

    def former_module(self, name: str) -> Moved | None:
        """Return the row of a module that has moved, or that held something that has."""
        row = self._rows.get(name)
        if isinstance(row, Moved):
            return row if _is_module(row.to) else None
        inside = (row for old, row in self._rows.items() if old.startswith(f"{name}."))
        return next((row for row in inside if isinstance(row, Moved)), None)

    def make(self, name: str) -> ModuleType:
        """Make a module that stands where one was."""
        row = self._rows.get(name)
        module = _Former(name)
        module.__path__ = []
        if isinstance(row, Moved):
            today = importlib.import_module(row.to)
            self._note(row)
            module.__getattr__ = lambda attribute: getattr(today, attribute)  # type: ignore
        self._modules.append(name)
        return module


class _Former(ModuleType):
    """A module that a library has no more."""


class _Attributes:
    """The `__getattr__` of a module whose names have moved or gone."""

    def __init__(self, names: Names, module: ModuleType, known: frozenset[str]) -> None:
        self.before = vars(module).get("__getattr__")
        self._names = names
        self._module = module.__name__
        self._known = known

    def __call__(self, name: str) -> Any:
        if self.before is not None:
            try:
                return self.before(name)
            except AttributeError:
                if name not in self._known:
                    raise
        if name in self._known:
            return self._names.find(f"{self._module}.{name}")
        raise AttributeError(f"module {self._module!r} has no attribute {name!r}")


class _Finder:
    """The last finder: it is asked for modules that are not there."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        gone = self._names.gone_name(name)
        if gone is not None:
            # `from trl import PPOTrainer` asks for this module, as the package has no such name.
            # From here an error reaches the script as it is.
            raise self._names.gone(gone)
        if self._names.former_module(name) is None:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

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


def _look_up(name: str) -> Any:
    """Import what a dotted name stands for."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)
