"""Which rows of the table matter to the installed releases."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..environment import in_range, installed_version
from .changes import Behaviour, Change, Default, Gone, Keyword, Moved

_Row = TypeVar("_Row", bound=Change)
_Owned = TypeVar("_Owned", Keyword, Behaviour)

_WHOLE = ("trl.", "peft.")
"""Libraries all of whose modules are looked at; others have too many."""
_MODULES = frozenset(
    {
        "accelerate.accelerator",
        "transformers.configuration_utils",
        "transformers.data.data_collator",
        "transformers.hf_argparser",
        "transformers.modeling_utils",
        "transformers.models.auto.auto_factory",
        "transformers.models.auto.configuration_auto",
        "transformers.models.auto.modeling_auto",
        "transformers.models.auto.tokenization_auto",
        "transformers.tokenization_utils_base",
        "transformers.trainer",
        "transformers.trainer_seq2seq",
        "transformers.training_args",
        "transformers.training_args_seq2seq",
        "transformers.utils.quantization_config",
    }
)


class Due:
    """The rows of the table for the installed releases.

    Args:
        rows: all rows.
    """

    def __init__(self, rows: Iterable[Change]) -> None:
        self._rows = tuple(_as_of_today(row) for row in rows if _is_due(row))
        self.packages = frozenset(row.library for row in self._rows)
        self._names = frozenset(
            row.name.rpartition(".")[0] for row in self._rows if isinstance(row, Moved | Gone)
        )

    def of(self, *kinds: type[_Row]) -> list[_Row]:
        """Return the rows of these kinds."""
        return [row for row in self._rows if isinstance(row, kinds)]

    def concerns(self, module: str) -> bool:
        """Tell whether a module may have something that a row is about."""
        return module in _MODULES or module in self._names or module.startswith(_WHOLE)

    def methods_of(self, kind: type) -> dict[str, dict[str, Keyword]]:
        """Return the rows for the methods of a class: by method, then by keyword.

        Args:
            kind: a class; rows of those that it derives from are meant for it, too.
        """
        methods: dict[str, dict[str, Keyword]] = {}
        for row, method in self._about(kind, Keyword):
            methods.setdefault(method, {})[row.name] = row
        return methods

    def behaviours_of(self, kind: type) -> dict[str, list[Behaviour]]:
        """Return what is otherwise with the methods of a class, by method."""
        methods: dict[str, list[Behaviour]] = {}
        for row, method in self._about(kind, Behaviour):
            methods.setdefault(method, []).append(row)
        return methods

    def defaults_of(self, kind: type) -> list[Default]:
        """Return the defaults of a configuration that have changed.

        Args:
            kind: a class. Its own rows go before those of the classes that it derives from.
        """
        if not dataclasses.is_dataclass(kind):
            return []
        order = [_public_name(ancestor) for ancestor in kind.__mro__]
        nearest: dict[str, tuple[int, Default]] = {}
        for row in self.of(Default):
            distances = [order.index(owner) for owner in row.owners if owner in order]
            if distances and min(distances) < nearest.get(row.name, (len(order), row))[0]:
                nearest[row.name] = (min(distances), row)
        return [row for _, row in nearest.values()]

    def _about(self, kind: type, rows: type[_Owned]) -> Iterator[tuple[_Owned, str]]:
        """Return the rows of a kind that are about a class, and the method of each."""
        ancestors = {_public_name(ancestor) for ancestor in kind.__mro__}
        for row in self.of(rows):
            for owner, method in _owners(row):
                if owner in ancestors:
                    yield row, method


def _public_name(kind: type) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _owners(row: Keyword | Behaviour) -> Iterator[tuple[str, str]]:
    """Return each class that a row is about, and the method."""
    for owner in row.owners:
        place, _, last = owner.rpartition(".")
        yield (place, last) if last[:1].islower() else (owner, "__init__")


def _is_due(row: Change) -> bool:
    library, _, gone = row.gone.partition(" ")
    since = row.values[1][0] if isinstance(row, Default) else gone
    version = installed_version(library)
    return version is not None and in_range(version, f">={since}")


def _as_of_today(row: _Row) -> _Row:
    """Leave out the defaults that are newer than what is installed."""
    if not isinstance(row, Default):
        return row
    installed = str(installed_version(row.library))
    known = tuple(value for value in row.values if in_range(installed, f">={value[0]}"))
    return dataclasses.replace(row, values=known)
