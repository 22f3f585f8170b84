"""Look into code objects, and those of the functions and classes inside them."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of all functions and classes inside it, outer ones first."""
    yield code
    for const in code.co_consts:
        if type(const) is CodeType:
            yield from nested_codes(const)


def names_in(code: CodeType) -> set[str]:
    """Return the names that some code, or a function or class inside it, mentions."""
    names = set(code.co_names)
    for const in code.co_consts:
        if type(const) is CodeType:
            names |= names_in(const)
    return names
