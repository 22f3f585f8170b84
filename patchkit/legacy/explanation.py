"""Rows of the table in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from .changes import (
    Change,
    Configure,
    Convert,
    Drop,
    Environment,
    Gone,
    Keyword,
    Moved,
    Refuse,
    Rename,
    Value,
)
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
        place, _, name = row.to.rpartition(".")
        ours = row.to.startswith(__package__)
        today = "patchkit has its own" if ours else f"write from {place} import {name}"
        return _described(row, row.name, today + (f"; {row.differs}" if row.differs else ""))
    if isinstance(row, Gone):
        return _described(row, row.name, row.instead)
    if isinstance(row, Value):
        old = f"{', '.join(map(short_name, row.owners))}({row.name}={row.value!r})"
        return _described(row, old, f"write {row.name}={row.to!r}" if row.to else row.instead)
    if isinstance(row, Keyword) and not row.is_understood:
        old = f"{', '.join(map(short_name, row.owners))}({row.name}=)"
        return _described(row, old, _advice(row))
    return None


def _described(row: Change, old: str, today: str) -> Described:
    return Described(old, release(row.gone), today, row.address, tuple(_errors(row)))


def _errors(row: Change) -> Iterator[str]:
    """Yield what Python says where it meets the old spelling."""
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


def _advice(row: Keyword) -> str:
    action = row.action
    if isinstance(action, Rename):
        return f"write {action.to}="
    if isinstance(action, Configure):
        return f"write {action.to}= in the configuration of the trainer"
    if isinstance(action, Convert):
        return f"write {action.to}" + ("=" if action.to.isidentifier() else "")
    if isinstance(action, Environment):
        return f"set the environment variable {action.variable}"
    if isinstance(action, Drop):
        return f"leave it out: {action.because}" + (f". {action.instead}" if action.instead else "")
    if isinstance(action, Refuse):
        return action.instead
    return action.advice
