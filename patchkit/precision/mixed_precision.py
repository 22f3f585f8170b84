"""Casting what is frozen to half precision and what is trained to float32."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .parameters import is_plain_float

if TYPE_CHECKING:
    import torch


def plain_floats(parameters: Iterable[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Those parameters whose numbers are what their dtype says: not packed, and not integers."""
    return filter(is_plain_float, parameters)
