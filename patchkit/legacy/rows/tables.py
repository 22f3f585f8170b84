"""What all tables of rows have: files, texts, releases, functions, and errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .toml import Table, TableError, line_of, read


class Named:
    """A function of `patchkit.legacy.converting`, which is imported when it is first called.

    Args:
        place: its module and name, with dots.
        first: what it is called with before all other arguments.
    """

    def __init__(self, place: str, *first: object) -> None:
        self.place = place
        self.first = first

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _imported(self.place)(*self.first, *args, **kwargs)

    def __repr__(self) -> str:
        return f"{self.place}{list(self.first)}"


@cache
def _imported(place: str) -> Callable[..., Any]:
    module, _, name = place.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(f"{_CONVERTING}.{module}"), name)
    return function


class TableReader:
    """Makes rows of the tables of one kind in a file, one table after the other.

    A class that derives from this one has a method for each kind of table, by the name of the kind.
    Methods whose names begin with an underscore are for these.

    Args:
        file: where they are; it has the name of the library.
        kind: the name of the tables, for messages.
    """

    def __init__(self, file: Path, kind: str) -> None:
        self._file = file
        self._kind = kind
        self._library = file.stem
        # What may be there once.
        self._seen: set[object] = set()

    def begin(self, number: int, table: Table) -> None:
        """Turn to a table.

        Args:
            number: how many tables of the kind are before it.
            table: what it has.
        """
        self._number = number
        self._table = table

    def _text(self, key: str, *, optional: bool = False) -> str:
        text = self._table.get(key, "" if optional else None)
        if not isinstance(text, str) or not (text or optional):
            raise self._error(key, f"a text, not {text!r}")
        return text

    def _texts(self, key: str) -> list[str]:
        texts = self._table.get(key)
        if not isinstance(texts, list) or not texts:
            raise self._error(key, f"a list of texts, not {texts!r}")
        return texts

    def _sentence(self, key: str, text: object) -> str:
        if not isinstance(text, str) or text[-1:] not in {".", "…"}:
            raise self._error(key, f"a sentence with a full stop, not {text!r}")
        return text

    def _function(self, key: str, text: object, *first: object) -> Named:
        """Return the function that a text names: `loading.quantized`, or `loading.quantized: x`.

        Args:
            key: the key that has the text, for messages.
            text: the text.
            first: what else the function is called with before all other arguments.
        """
        place, colon, argument = text.partition(": ") if isinstance(text, str) else ("", "", "")
        if "." not in place or not place.replace(".", "_").isidentifier() or (colon and first):
            raise self._error(key, f"a module and a function such as loading.read, not {text!r}")
        return Named(place, *([argument] if colon else first))

    def _optional_function(self, key: str) -> Named | None:
        return self._function(key, self._table[key]) if key in self._table else None

    def _flag(self, key: str) -> bool:
        flag = self._table.get(key, False)
        if not isinstance(flag, bool):
            raise self._error(key, f"true, or that the key is left out, not {flag!r}")
        return flag

    def _release(self, key: str, *, optional: bool = False) -> str:
        """Return the library and the release, as rows have it; empty if there is none."""
        number = self._text(key, optional=optional)
        if not number and optional:
            return ""
        self._check_release(key, number)
        return f"{self._library} {number}"

    def _check_release(self, key: str, number: str, other: Collection[str] = ()) -> None:
        if not _is_release(number):
            raise self._error(key, f"a release such as 0.12.0, not {number!r}", other)

    def _error(self, key: str, expected: str, other: Collection[str] = ()) -> TableError:
        choice = f", or one of {', '.join(sorted(other))}" if other else ""
        line = line_of(self._file.read_text(encoding="utf-8"), self._kind, self._number)
        where = f"{self._file.name}:{line}, [[{self._kind}]], key {key!r}"
        return TableError(f"{where}: expected {expected}{choice}")


class OwnedReader(TableReader):
    """Makes rows about classes and functions.

    Attributes:
        settings: the keys that are about a table; all others are old names.
    """

    settings: frozenset[str]

    def _owners(self) -> tuple[str, ...]:
        owners = self._texts("of")
        places = _places(self._library, tuple(owners))
        if places is None:
            raise self._error("of", f"names of {self._library}'s classes, not {owners!r}")
        return places

    def _entries(self, settings: frozenset[str]) -> list[tuple[str, Any]]:
        """Return the old names and what the table says of each.

        Args:
            settings: the settings that this kind of table may have.
        """
        known = self.settings
        entries = [entry for entry in self._table.items() if entry[0] not in known]
        self._check_settings(settings, entries)
        if not entries:
            raise self._error("", "an old name", settings)
        return entries

    def _check_settings(
        self, settings: frozenset[str], entries: Collection[tuple[str, object]] = ()
    ) -> None:
        if len(self._table) > len(entries) + len(self._table.keys() & settings):
            names = {name for name, _ in entries}
            wrong = next(key for key in self._table if key not in settings and key not in names)
            raise self._error(wrong, "an old name" if entries else "no such key", settings)

    def _name(self, key: str, name: object) -> str:
        if not isinstance(name, str) or not name.replace(".", "_").isidentifier():
            raise self._error(key, f"a name, not {name!r}", self.settings)
        return name

    def _check_once(self, *what: object) -> None:
        if what in self._seen:
            raise self._error(str(what[-1]), "what no other table of this kind says")
        self._seen.add(what)


def rows_of(folder: Path, reader_of: type[TableReader]) -> Iterator[Any]:
    """Yield the rows of all files of a folder.

    Args:
        folder: has the files; each has the name of a library.
        reader_of: the class of readers.

    Raises:
        TableError: a file has what may not stand in it, or has something twice.
    """
    kinds = [name for name, known in vars(reader_of).items() if callable(known) and name[0] != "_"]
    # An error may fit rows of several libraries; TRL and Transformers are asked about most.
    files = [file for file in folder.iterdir() if file.suffix == ".toml"]
    for file in sorted(files, reverse=True):
        for kind, tables in read(file.read_text(encoding="utf-8"), file.name).items():
            if kind not in kinds:
                expected = " or ".join(f"[[{name}]]" for name in kinds)
                raise TableError(f"{file.name}: expected {expected}, not [[{kind}]]")
            reader = reader_of(file, kind)
            for number, table in enumerate(tables):
                reader.begin(number, table)
                yield from getattr(reader, kind)()


# The same releases, classes and values are in many tables.
@cache
def _is_release(number: str) -> bool:
    return "." in number and all(map(str.isdigit, number.split(".")))


@cache
def _places(library: str, owners: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the names of classes with their library, which one may name; None if they are none."""
    if not all(map(str.isidentifier, ".".join(owners).replace(":", ".").split("."))):
        return None
    return tuple(
        [owner.replace(":", ".") if ":" in owner else f"{library}.{owner}" for owner in owners]
    )


@cache
def value(text: str) -> object:
    """Return the value that a text stands for: None, True, False, a number, or the text itself."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if not text[-1:].isdigit():
        return text
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text


_CONSTANTS: Mapping[str, bool | None] = {"None": None, "True": True, "False": False}
_CONVERTING = f"{__package__.rpartition('.')[0]}.converting"
