"""Write numbers and dtypes for findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..text import plural as plural
from ..text import short_list

if TYPE_CHECKING:
    from .anatomy import Parameter

OTHER_HALF = {"float16": "bfloat16", "bfloat16": "float16"}


def short(dtype: object) -> str:
    """Return `bfloat16` for `torch.bfloat16`."""
    return str(dtype).removeprefix("torch.")


def dtypes(values: Iterable[object]) -> str:
    """Count dtypes, as in `28 float32, 2 bfloat16`."""
    counts = Counter(map(short, values))
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def parameters(tensors: Sequence[Parameter], noun: str) -> str:
    """List parameters: `28 trained parameters (28 bfloat16): a, b, c and 25 more`."""
    kinds = dtypes(parameter.dtype for parameter in tensors)
    names = short_list(parameter.name for parameter in tensors)
    return f"{plural(len(tensors), noun)} ({kinds}): {names}"
