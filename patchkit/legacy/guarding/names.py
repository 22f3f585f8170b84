"""Answer imports of names and modules that have moved or are gone."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from types import FrameType, ModuleType
from typing import Any

from ...whose import Whose, owner_of_frame
from ..call_sites import catches
from ..changes import Moved
from ..errors import GoneError
from ..places import FoundName, Places
from ..uses import Journal, Kind
from ..versions.version_sets import advice
from ..wording import since
from .gone_name import GoneName
from .lookups import (
    NameLookup,
    importing_frame,
    imports_names,
    is_caught,
    is_matched,
    is_part_of_a_package,
    lookup_of,
)

_FIRST_QUESTION = "_handle_fromlist"
"""The function of the import system that asks whether a module has a name."""
_STARRED = "__all__"


class Names:
    """Say where names are today that a library no longer has."""

    def __init__(self, places: Places, journal: Journal) -> None:
        self._places = places
        self._journal = journal
        self._modules: list[str] = []
        self._gone_modules: set[str] = set()

    def forget_modules(self) -> None:
        """Take the modules that were made here out of the imported ones."""
        for name in (*self._modules, *self._gone_modules):
            self._forget(name)
        self._modules.clear()

    def _forget(self, name: str) -> None:
        """Take a former module out of the imported ones, and those above it that are gone."""
        former = sys.modules.get(name)
        if isinstance(former, _FormerModule):
            del sys.modules[name]
            parent, _, last = name.rpartition(".")
            if vars(sys.modules.get(parent, former)).get(last) is former:
                delattr(sys.modules[parent], last)
        self._gone_modules.discard(name)
        above = name.rpartition(".")[0]
        if above in self._gone_modules:
            self._forget(above)

    def note(self, name: str) -> None:
        """Note the use of a name that stands for itself."""
        found = self._places.exactly(name)
        assert found is not None
        self._note(found)

    def read(self, name: str, frame: FrameType, upstream: AttributeError) -> Any:
        """Return the value of a name for a frame that asks for it.

        Raises:
            AttributeError: that of the library for code that only looks, or one that says more.
            ImportError: the same, for an import statement whose source is not there.
        """
        lookup = lookup_of(frame)
        if lookup is NameLookup.PROBE:
            raise upstream
        return self._find(name, lookup)

    def is_gone(self, module: str) -> bool:
        """Tell whether a module is gone, and a script has imported it."""
        return module in self._gone_modules

    def is_wanted(self, name: str, asking: FrameType) -> bool:
        """Tell whether to make a module that no finder has.

        Args:
            name: the module.
            asking: the frame that asks the finders.

        Raises:
            GoneError: it is gone, and there is no source that shows the statement.
        """
        gone = self.gone_name(name)
        if gone is None and self.former_module(name) is None:
            return False
        importing = importing_frame(asking)
        if importing is None or catches(importing, ModuleNotFoundError):
            return False
        if gone is not None:
            # `from trl import PPOTrainer` asks for this module, as the package has no such name,
            # and then asks the package again.
            if is_part_of_a_package(asking) or is_caught(importing):
                return False
            if not imports_names(importing):
                raise self.gone(gone)
        return True

    def _find(self, name: str, lookup: NameLookup) -> Any:
        """Return the value of a name that has moved, by its old place; a stand-in for a gone one.

        Raises:
            AttributeError: it is gone, or it is not where the table says.
            ImportError: the same, for an import statement whose source is not there.
        """
        found = self._places.exactly(name)
        assert found is not None
        problem: ImportError | None = None
        if not found.is_gone:
            try:
                value = _look_up(found.place)
            except (ImportError, AttributeError) as error:
                problem = self._astray(found, error)
                found = self._places.gone(name) or found
            else:
                if lookup is not NameLookup.AHEAD:
                    self._note(found)
                wrapped = isinstance(found.row, Moved) and found.row.wrapped
                return _look_up(wrapped)(value) if wrapped else value
        if lookup is NameLookup.IMPORT:
            if found.is_gone:
                return self._imported(found, name, _asking_frame())
            raise problem or self.gone(found)
        if found.is_gone:
            problem = self.gone(found, Kind.REFUSED if lookup is NameLookup.READ else None)
        raise AttributeError(str(problem))

    def _imported(self, found: FoundName, name: str, frame: FrameType) -> GoneName:
        """Return what an import statement gets for a gone name, which its use will refuse.

        Raises:
            AttributeError: the code that imports can do without it.
            GoneError: there is no source that shows the statement, or a `case` asks for the name.
        """
        if is_caught(frame):
            module, _, last = name.rpartition(".")
            raise AttributeError(f"module {module!r} has no attribute {last!r}")
        if not imports_names(frame):
            raise self.gone(found)
        return self._stand_in(found, name, frame)

    def _stand_in(self, found: FoundName, name: str, frame: FrameType) -> GoneName:
        """Say in which line a script imports a gone name, before it loads a model in vain."""
        if is_matched(frame, name):
            raise self.gone(found)
        self.gone(found, Kind.IMPORTED)
        return GoneName(name, lambda: self.gone(found))

    @staticmethod
    def _astray(found: FoundName, error: Exception) -> ImportError:
        row = found.row
        return ImportError(
            f"{row.name} {since(row)}; {found.place}, where patchkit looked for it, cannot be "
            f"imported: {error}"
        )

    def _note(self, found: FoundName) -> None:
        self._journal.note(found.row, Kind.FIXED, found.row.name, str(found))

    def gone(self, found: FoundName, kind: Kind | None = Kind.REFUSED) -> GoneError:
        """Return the error that says that a name is gone, and note its use if there is a kind."""
        row = found.row
        message = f"{found} {advice(row)}".strip()
        if kind is not None:
            message = str(self._journal.note(row, kind, row.name, message))
        return GoneError(message)

    def gone_name(self, name: str) -> FoundName | None:
        """Return the row of a name that is gone, unless it is somewhere else."""
        found = self._places.exactly(name)
        if found is not None and not found.is_gone and _is_there(found.place):
            return None
        above = name.rpartition(".")[0]
        return self._places.gone(name) or (
            self.gone_name(above) if above in self._gone_modules else None
        )

    def _within_gone(self, found: FoundName, module: str, name: str) -> GoneName:
        """Return a stand-in for a name that is imported from a gone module."""
        frame = _asking_frame()
        if name == _STARRED and frame.f_code.co_name == _FIRST_QUESTION:
            raise self.gone(found)  # `from module import *` would give no name
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if frame.f_code.co_name != _FIRST_QUESTION:
            # The next import of it may be one that can do without it.
            self._forget(module)
        own = self._places.gone(f"{module}.{name}") or found
        return self._stand_in(own, f"{module}.{name}", frame)

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
        gone = self.gone_name(name)
        if gone is not None:
            module.__getattr__ = partial(self._within_gone, gone, name)  # type: ignore
            self._gone_modules.add(name)
            return module
        if found is not None and not found.is_gone:
            current = importlib.import_module(found.place)
            self._note(found)
            module.__getattr__ = partial(_part_of, current)  # type: ignore
        self._modules.append(name)
        return module


class _FormerModule(ModuleType):
    """A module that a library no longer has."""


def _part_of(module: ModuleType, name: str) -> Any:
    """Return what a module has; the names of `from module import *` it may have no list of."""
    if name == _STARRED and not hasattr(module, name):
        return [each for each in vars(module) if not each.startswith("_")]
    return getattr(module, name)


def _asking_frame() -> FrameType:
    """Return the frame that asks for a name, outside of patchkit."""
    frame = sys._getframe(1)
    while frame.f_back is not None and owner_of_frame(frame).whose is Whose.OURS:
        frame = frame.f_back
    return frame


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
