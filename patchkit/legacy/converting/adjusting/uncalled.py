"""Methods of a script's own trainers that no trainer calls any more."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ....rewrite.compile import nested_codes
from ...changes import Adjusted, Adjuster, Uncalled
from ...guarding.libraries import library_class, own_classes
from ...uses import Place
from ..call import Call
from .surroundings import Surroundings


def never_called(action: Uncalled) -> Adjuster:
    """Return what refuses a trainer whose own method would be passed over without a word.

    Args:
        action: what to say of the method.
    """

    def refuse(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
        kind = type(call.instance)
        if hasattr(library_class(kind), row.name) or row.name in _mentioned(kind):
            return
        for owner in own_classes(kind):
            method = _function(vars(owner).get(row.name))
            if method is not None:
                raise call.refuse(
                    row,
                    f"{owner.__name__}.{row.name}",
                    action.refusal,
                    Place.of_function(method),
                )

    return refuse


def _mentioned(kind: type) -> set[str]:
    """Return the names that the methods of a script's classes mention, but for their own."""
    return {name for owner in own_classes(kind) for name in _names(owner)}


def _names(owner: type) -> Iterator[str]:
    for own_name, method in vars(owner).items():
        function = _function(method)
        if function is not None:
            for code in nested_codes(function.__code__):
                yield from (name for name in code.co_names if name != own_name)


def _function(method: Any) -> FunctionType | None:
    """Return the function that a method was made of; None for what is none."""
    function = inspect.unwrap(getattr(method, "__func__", method))
    return function if isinstance(function, FunctionType) else None
