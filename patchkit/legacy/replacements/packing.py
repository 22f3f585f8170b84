"""Cutting rows of token ids into rows of one length."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any


def pack_examples(
    examples: Mapping[str, list[list[Any]]], seq_length: int
) -> dict[str, list[list[Any]]]:
    """Put rows one after the other, and cut them into rows of a length.

    Args:
        examples: columns of lists.
        seq_length: the length; the last row may be shorter.
    """
    packed = {}
    for name, rows in examples.items():
        whole = list(chain.from_iterable(rows))
        packed[name] = [
            whole[start : start + seq_length] for start in range(0, len(whole), seq_length)
        ]
    return packed
