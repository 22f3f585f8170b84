"""Callbacks of a script's own that ask for `tokenizer`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

from ...changes import Adjusted
from ...guarding.libraries import own_classes
from ...uses import Place
from ..call import Call
from .surroundings import Surroundings

_OLD, _NEW = "tokenizer", "processing_class"
_CALLED = "on_"
"""How the names of the methods begin that a trainer calls."""


def tokenizer_for_callbacks(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass `tokenizer` to methods of a callback that ask for it."""
    callback = call.arguments.get("callback")
    kind = callback if isinstance(callback, type) else type(callback)
    for owner in own_classes(kind):
        methods = {
            name: method for name, method in vars(owner).items() if inspect.isfunction(method)
        }
        # What a method gets it may hand on to another one, which asks.
        is_handed_on = any(
            _asks(method.__code__)
            for name, method in methods.items()
            if not name.startswith(_CALLED)
        )
        for name, method in methods.items():
            code = method.__code__
            if name.startswith(_CALLED) and (_asks(code) or (is_handed_on and _takes_any(code))):
                surroundings.changed.change(owner, name, _with_tokenizer(method))
                call.fix(
                    row,
                    f"{owner.__name__}.{name}(tokenizer)",
                    f"write {_NEW} for tokenizer",
                    Place.of_function(method),
                )


def _asks(code: CodeType) -> bool:
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return _NEW not in parameters and (_OLD in parameters or _OLD in code.co_consts)


def _takes_any(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_VARKEYWORDS) and _NEW not in code.co_varnames


def _with_tokenizer(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **{_OLD: kwargs.get(_NEW), **kwargs})

    return called
