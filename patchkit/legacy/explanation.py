"""Rows of the table in words, and those that an error message speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from .changes import Change, Gone, Keyword, Moved, Value
from .decisions import decide, decide_value
from .places import FoundName
from .wording import release

# The site finds rows by the same patterns, in JavaScript.
KEYWORD_ERROR = re.compile(
    r"(?:(\w+)(?:\.__init__)?\(\) )?got an unexpected keyword argument '?(\w+)'?"
)
NAME_ERROR = re.compile(r"cannot import name '?(\w+)'? from '?([\w.]+)'?")
MODULE_ERROR = re.compile(r"No module named '?([\w.]+)'?")
ATTRIBUTE_ERROR = re.compile(r"module '?([\w.]+)'? has no attribute '?(\w+)'?")


@dataclass(frozen=True)
class Described:
    """A row in words.

    Args:
        old: the old spelling.
        gone: the first release without it.
        today: what to write, or why there is nothing.
        source: where the change is written down.
        errors: what Python says of it, without the layer.
    """

    old: str
    gone: str
    today: str
    source: str
    errors: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def described(row: Change) -> Described | None:
    """Put a row into words; None for kinds that have no old spelling."""
    if isinstance(row, Moved):
        return _described(row, row.name, FoundName(row, row.to).advice)
    if isinstance(row, Gone):
        return _described(row, row.name, FoundName(row).advice)
    if isinstance(row, Value):
        old = f"{', '.join(map(short_name, row.owners))}({row.name}={row.value!r})"
        decision = decide_value(row, row.value)
        assert decision is not None
        return _described(row, old, decision.advice)
    if isinstance(row, Keyword) and not row.is_understood:
        old = f"{', '.join(map(short_name, row.owners))}({row.name}=)"
        return _described(row, old, decide(row).advice)
    return None


def rows_of_error(text: str, rows: Iterable[Change]) -> list[Described]:
    """Return the rows that an error message speaks of, those of the class it names first."""
    rows = list(rows)
    found: list[Change] = []
    for owner, keyword in KEYWORD_ERROR.findall(text):
        named = [row for row in rows if isinstance(row, Keyword) and row.name == keyword]
        of_owner = [row for row in named if owner in map(short_name, row.owners)]
        found += of_owner or named
    places = [f"{module}.{name}" for name, module in NAME_ERROR.findall(text)]
    places += MODULE_ERROR.findall(text)
    places += [f"{module}.{name}" for module, name in ATTRIBUTE_ERROR.findall(text)]
    found += [row for row in rows if isinstance(row, Moved | Gone) and row.name in places]
    in_words = (described(row) for row in found)
    return list(dict.fromkeys(change for change in in_words if change is not None))


def _described(row: Change, old: str, today: str) -> Described:
    return Described(old, release(row.gone), today, row.address, tuple(_errors(row)))


def _errors(row: Change) -> Iterator[str]:
    """Yield the errors that Python raises for the old spelling."""
    if isinstance(row, Moved | Gone):
        module, _, name = row.name.rpartition(".")
        yield f"cannot import name '{name}' from '{module}'"
    elif isinstance(row, Keyword):
        for owner in row.owners:
            called = short_name(owner)
            if not called.rpartition(".")[2][:1].islower():
                called += ".__init__"
            yield f"{called}() got an unexpected keyword argument '{row.name}'"


def short_name(owner: str) -> str:
    """Return the owner of a keyword as its errors name it: `SFTTrainer` of `trl.SFTTrainer`."""
    return owner.partition(".")[2]
