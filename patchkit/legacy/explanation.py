"""Rows of the table in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from .changes import Change, Gone, Keyword, Moved, Value
from .decisions import decide, decide_value
from .places import FoundName
from .wording import release


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
