"""Which rows of the table matter to the installed releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..environment import in_range, installed_version
from .changes import Change, Gone, Keyword, Moved

_Row = TypeVar("_Row", bound=Change)

_WHOLE = ("trl.", "peft.")
"""Libraries all of whose modules are looked at; others have too many."""
_MODULES = frozenset(
    {
        "accelerate.accelerator",
        "datasets.builder",
        "transformers.configuration_utils",
        "transformers.data.data_collator",
        "transformers.hf_argparser",
        "transformers.modeling_utils",
        "transformers.models.auto.auto_factory",
        "transformers.models.auto.configuration_auto",
        "transformers.models.auto.processing_auto",
        "transformers.models.auto.tokenization_auto",
        "transformers.processing_utils",
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
        self._rows = tuple(row for row in rows if _is_due(row))
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
        ancestors = {
            f"{ancestor.__module__.partition('.')[0]}.{ancestor.__name__}"
            for ancestor in kind.__mro__
        }
        for row in self.of(Keyword):
            for owner, method in _owners(row):
                if owner in ancestors:
                    methods.setdefault(method, {})[row.name] = row
        return methods


def _owners(row: Keyword) -> Iterator[tuple[str, str]]:
    """Return each class that a row is about, and the method."""
    for owner in row.owners:
        place, _, last = owner.rpartition(".")
        yield (place, last) if last[:1].islower() else (owner, "__init__")


def _is_due(row: Change) -> bool:
    library, _, gone = row.gone.partition(" ")
    version = installed_version(library)
    return version is not None and in_range(version, f">={gone}")
