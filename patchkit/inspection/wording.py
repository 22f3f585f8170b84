"""Names, numbers and dtypes as findings write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .anatomy import Parameter

_NAMES_SHOWN = 3


def short(dtype: object) -> str:
    """`bfloat16` for `torch.bfloat16`."""
    return str(dtype).removeprefix("torch.")


def listed(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, thing: str) -> str:
    """`1 layer`, `2 layers`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def dtypes(values: Iterable[object]) -> str:
    """`28 float32, 2 bfloat16`."""
    counts = Counter(map(short, values))
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def parameters(found: Sequence[Parameter], what: str) -> str:
    """`28 trained parameters (28 bfloat16): a, b, c and 25 more`."""
    kinds = dtypes(one.dtype for one in found)
    return f"{counted(len(found), what)} ({kinds}): {listed(one.name for one in found)}"


def megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
