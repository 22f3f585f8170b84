"""Numbers and dtypes as findings write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..wording import counted as counted
from ..wording import listed

if TYPE_CHECKING:
    from .anatomy import Parameter

OTHER_HALF = {"float16": "bfloat16", "bfloat16": "float16"}


def short(dtype: object) -> str:
    """`bfloat16` for `torch.bfloat16`."""
    return str(dtype).removeprefix("torch.")


def dtypes(values: Iterable[object]) -> str:
    """`28 float32, 2 bfloat16`."""
    counts = Counter(map(short, values))
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def parameters(found: Sequence[Parameter], what: str) -> str:
    """`28 trained parameters (28 bfloat16): a, b, c and 25 more`."""
    kinds = dtypes(one.dtype for one in found)
    return f"{counted(len(found), what)} ({kinds}): {listed(one.name for one in found)}"
