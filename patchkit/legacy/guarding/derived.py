"""Dataclasses that a script derives from a library's configuration.

`dataclasses` generates a constructor for each, after the class was made. So a guard of the
library's constructor does not see its calls.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .changed import ChangedAttributes
from .libraries import belongs_to_a_library

_MAKER = "_process_class"
"""The function of `dataclasses` that turns a class into a dataclass."""
_GENERATED = "<string>"
"""The file that generated constructors are said to be in."""


def watch(guard: Callable[[type], None], changed: ChangedAttributes) -> None:
    """Call a function with each dataclass that is made from now on.

    Args:
        guard: the function.
        changed: remembers what is changed for that.
    """
    process = getattr(dataclasses, _MAKER, None)
    if process is None:
        return

    @functools.wraps(process)
    def process_class(*args: Any, **kwargs: Any) -> Any:
        kind = process(*args, **kwargs)
        guard(kind)
        return kind

    changed.change(dataclasses, _MAKER, process_class)


def derived_from(kind: type) -> Iterator[type]:
    """Yield all classes that derive from a dataclass; none for other classes."""
    if dataclasses.is_dataclass(kind):
        for derived in kind.__subclasses__():
            yield derived
            yield from derived_from(derived)


def has_generated_constructor(kind: type) -> bool:
    """Tell whether a class is a script's own, and `dataclasses` made its constructor."""
    constructor = vars(kind).get("__init__")
    return (
        not belongs_to_a_library(kind)
        and isinstance(constructor, FunctionType)
        and constructor.__code__.co_filename == _GENERATED
    )
