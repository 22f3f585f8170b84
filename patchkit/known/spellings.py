"""Rows of the table of old spellings, by the name or the keyword that an error speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ..libraries import LIBRARIES

if TYPE_CHECKING:
    from ..legacy.changes import Gone, Keyword, Moved

UNMISTAKABLE = re.compile(r"(?=\w*_).{11,}")
KINDS = {
    "Trainer": r"Trainer$",
    "TrainingArguments": r"(?:Arguments|Config)$",
    "PreTrainedModel": r"For[A-Z]|Model$",
    "PreTrainedConfig": r"Config$",
    "PreTrainedTokenizerBase": r"Tokenizer",
    "ProcessorMixin": r"Processor$",
}
"""Base classes, and how the names of their subclasses look."""
Installed = Callable[[str], str | None]


def rows_of(place: str) -> list[Moved | Gone]:
    """Return the rows of the table for a name or a module."""
    return [row for row in _rows_of_library(place) if row.name == place]


def _rows_of_library(place: str) -> Sequence[Moved | Gone]:
    """Return the rows of the table for names, if it has the library of a place."""
    if place.partition(".")[0] not in LIBRARIES:
        return ()  # reading the table takes its time
    from ..legacy.rows import rows_of_names

    return rows_of_names()


def due_first(rows: list[Moved | Gone], installed: Installed) -> list[Moved | Gone]:
    """Leave out where a name had moved to, if the installed release does not have it there."""
    if len(rows) < 2:
        return rows
    from ..legacy.rows import rows_of_names
    from ..legacy.versions.due import Due

    found = Due(rows_of_names(), lambda library: installed(library) or "9999").places.find(
        rows[0].name
    )
    return rows if found is None else [found.row]


def rows_below(module: str) -> list[Moved | Gone]:
    """Return the rows of the table for names in a module."""
    return [row for row in _rows_of_library(module) if row.name.startswith(f"{module}.")]


def _rows_with_keyword(keyword: str) -> list[Keyword]:
    """Return the rows of the table for a keyword of any class or function."""
    from ..legacy.changes import Keyword
    from ..legacy.explanation import described
    from ..legacy.rows import rows_of_spellings

    return [
        row
        for row in rows_of_spellings()
        if isinstance(row, Keyword) and row.name == keyword and described(row) is not None
    ]


def rows_of_keyword(owner: str, keyword: str) -> list[Keyword]:
    """Return the rows of the table for a keyword of one class or function."""
    from ..legacy.explanation import short_name

    owners = {owner, *_bases_of(owner)}
    if is_model(owner):  # It got what from_pretrained did not know.
        owners.add("PreTrainedModel.from_pretrained")
    found = [
        row
        for row in _rows_with_keyword(keyword)
        if owners.intersection(map(short_name, row.owners))
    ]
    return sorted(found, key=lambda row: owner not in map(short_name, row.owners))


def _bases_of(owner: str) -> Iterator[str]:
    """Yield the classes whose keywords a class takes as well, as far as that is known."""
    from ..modernize.history import shipped

    if owner.startswith("Seq2Seq"):
        yield owner.removeprefix("Seq2Seq")
    for known in shipped().libraries.values():
        for base in known.taken_from.get(owner, ()):
            yield base.partition(".")[2]


def rows_of_alike(owner: str, keyword: str) -> list[Keyword]:
    """Return the rows of the table for a keyword of classes like one that no table has.

    A subclass of the script has the last word of its base's name: `MyTrainer`, `ScriptArguments`.
    A name whose last word no class of the libraries has, such as `Own`, says nothing of its base;
    it may be of any field, so only keywords that no other field has are looked up then.
    """
    from ..legacy.explanation import short_name

    rows = sorted(
        _rows_with_keyword(keyword),
        key=lambda row: (
            row.library == "trl",
            last_word(row.owners[0]) not in ("Config", "Trainer"),
        ),
    )
    word = last_word(owner) if owner else ""
    if not owner and "_" not in keyword:  # A word that any class may have.
        rows = [row for row in rows if last_word(row.owners[0]) in ("Config", "Trainer")]
    alike = [row for row in rows if word in map(last_word, map(short_name, row.owners))]
    if alike or word in last_words():
        return alike
    return [] if word and not UNMISTAKABLE.fullmatch(keyword) else rows


@cache
def last_words() -> frozenset[str]:
    """Return the last words of all classes of the libraries."""
    from ..modernize.history import shipped

    return frozenset(
        last_word(name)
        for library in shipped().libraries.values()
        for names in library.names.values()
        for name in names
        if name[:1].isupper()
    )


def last_word(owner: str) -> str:
    word = re.split("(?<!^)(?=[A-Z])", owner.rpartition(".")[2])[-1]
    return "Config" if word in ("Arguments", "Args") else word


def is_model(owner: str) -> bool:
    return bool(re.search(KINDS["PreTrainedModel"], owner))
