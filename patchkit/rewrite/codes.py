"""Look into code objects, and those of the functions and classes inside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CodeType


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of all functions and classes inside it, outer ones first."""
    yield code
    for const in code.co_consts:
        if type(const) is CodeType:
            yield from nested_codes(const)


def has_names(code: CodeType, names: Iterable[str]) -> bool:
    """Tell whether some code, or a function or class inside it, mentions each of these names."""
    own = code.co_names
    for name in names:
        if name not in own and not any(name in inner.co_names for inner in nested_codes(code)):
            return False
    return True
