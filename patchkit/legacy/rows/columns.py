"""Columns of datasets, which were lists, or arrays and tensors of a dataset's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..changes import Adjusted, Attribute, Change
from ..converting.adjusting import datasets

_GONE = "datasets 4.0.0"
_SOURCE = "https://github.com/huggingface/datasets/releases/tag/4.0.0"
_COLUMN = ("datasets.Column",)
_LIST = "write list(dataset[…]), or dataset[:][…]"


def _added(column: Any) -> Callable[[Any], Any]:
    return lambda other: column[:] + _whole(other)


def _added_to(column: Any) -> Callable[[Any], Any]:
    return lambda other: other + column[:]


def _repeated(column: Any) -> Callable[[int], Any]:
    return lambda times: column[:] * times


def _of_whole(name: str, column: Any) -> Any:
    return getattr(column[:], name)


def _whole(value: Any) -> Any:
    return value[:] if type(value).__name__ == "Column" else value


_OPERATORS: dict[str, Callable[[Any], Any]] = {
    "__add__": _added,
    "__radd__": _added_to,
    "__mul__": _repeated,
    "__rmul__": _repeated,
}
_OF_WHOLE = (
    *("argmax", "astype", "copy", "dtype", "float", "long", "max", "mean", "min", "numpy"),
    *("reshape", "shape", "size", "sum", "to", "tolist", "unsqueeze", "view"),
)
"""What lists, arrays and tensors have, and a column has not."""


def _rows() -> Iterator[Change]:
    reads: dict[str, Callable[[Any], Any]] = {
        **_OPERATORS,
        **{name: partial(_of_whole, name) for name in _OF_WHOLE},
    }
    for name, read in reads.items():
        yield Attribute(
            owners=_COLUMN, name=name, read=read, advice=_LIST, gone=_GONE, source=_SOURCE
        )
    for method in ("__call__", "batch_decode", "encode"):
        yield Adjusted(
            owners=(f"transformers.PreTrainedTokenizerBase.{method}",),
            name="columns for tokenizers",
            adjust=datasets.listed,
            concerns=datasets.has_column,
            gone=_GONE,
            source=_SOURCE,
        )


ROWS: tuple[Change, ...] = tuple(_rows())
