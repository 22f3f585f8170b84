"""Calls that give other results, or raise, with the same arguments: one file for each library.

`trl.toml` says at its top what may stand in such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from ...changes import (
    Adjusted,
    AtMost,
    Behaviour,
    Columns,
    Copied,
    GivenToo,
    Inner,
    InSource,
    LeftOut,
    Listed,
    OneColumn,
    OtherParameter,
    OtherResults,
    OwnConfiguration,
    Owned,
    Parameters,
    Uncalled,
    Wrapped,
)
from ...plain import PlainData
from ..tables import OwnedReader, rows_of, value
from ..toml import Table

FOLDER = Path(__file__).parent
_OF_ALL = frozenset({"of", "release", "source", "name", "by"})
_OF_UNCALLED = frozenset({"of", "release", "instead", "names"})
_IN_SOURCE: dict[str, type[InSource]] = {
    "at_most": AtMost,
    "columns": Columns,
    "copied": Copied,
    "given_too": GivenToo,
    "inner": Inner,
    "left_out": LeftOut,
    "listed": Listed,
    "one_column": OneColumn,
    "other_parameter": OtherParameter,
    "own_configuration": OwnConfiguration,
    "parameters": Parameters,
    "wrapped": Wrapped,
}
_OF_ADJUSTED = _OF_ALL | {"since", "early", "concerns"} | _IN_SOURCE.keys()
_Part = TypeVar("_Part", bound=PlainData)


def rows(folder: Path = FOLDER) -> Iterator[Owned]:
    """Yield the rows of all files of a folder, as `rows_of` reads them."""
    return rows_of(folder, _CallReader)


class _CallReader(OwnedReader):
    settings = _OF_ADJUSTED | _OF_UNCALLED | {"silent"}

    def behaviour(self) -> Iterator[Owned]:
        self._check_settings(_OF_ALL | {"silent"})
        yield Behaviour(
            owners=self._owners(),
            name=self._text("name"),
            around=self._function("by", self._text("by")),
            silent=self._part("silent", OtherResults),
            gone=self._release("release"),
            source=self._text("source", optional=True),
        )

    def adjusted(self) -> Iterator[Owned]:
        self._check_settings(_OF_ADJUSTED)
        parts = [self._part(name, cls) for name, cls in _IN_SOURCE.items()]
        early = self._flag("early")
        yield Adjusted(
            owners=self._owners(),
            name=self._text("name"),
            adjust=self._function("by", self._text("by")),
            in_source=next((part for part in parts if part is not None), None),
            early=early,
            concerns=self._optional_function("concerns"),
            gone=self._release("release", optional=early) or self._library,
            since=self._release("since", optional=True),
            source=self._text("source", optional=True),
        )

    def uncalled(self) -> Iterator[Owned]:
        self._check_settings(_OF_UNCALLED)
        action = Uncalled(self._sentence("instead", self._text("instead")))
        adjust = self._function("by", "adjusting.own_methods.never_called")
        for name in self._texts("names"):
            yield Adjusted(
                owners=self._owners(),
                name=name,
                adjust=adjust,
                in_source=action,
                gone=self._release("release"),
            )

    def _part(self, key: str, cls: type[_Part]) -> _Part | None:
        """Return what the table below this one says; None if there is none."""
        below: list[Table] = self._table.get(key, [])
        if not below:
            return None
        if len(below) > 1:
            raise self._error(key, "one such table, not more")
        said = below[0]
        expected = cls.field_types
        if wrong := said.keys() - expected.keys():
            raise self._error(f"{key}.{min(wrong)}", f"one of {', '.join(sorted(expected))}")
        try:
            return cls(**{name: _given(expected[name], said[name]) for name in said})
        except (TypeError, ValueError) as error:
            raise self._error(key, f"all that it needs: {error}") from error


def _given(expected: str, said: Any) -> object:
    """Return a value of a field: a mapping is a list of texts such as `old: new`.

    Several values are `name: a | b`.
    """
    if expected.startswith("Mapping"):
        pairs = (text.split(": ") for text in said)
        several = {name: tuple(map(value, text.split(" | "))) for name, text in pairs}
        return {name: held[0] if len(held) == 1 else held for name, held in several.items()}
    return tuple(said) if isinstance(said, list) else said
