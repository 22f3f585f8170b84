"""Callbacks of a script's own that ask for `tokenizer`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..call import Call
from ..changes import Adjusted
from ..uses import Place
from .surroundings import Surroundings

_OLD, _NEW = "tokenizer", "processing_class"
_LIBRARIES = frozenset({"transformers", "trl", "peft", "patchkit"})


def tokenizer_for_callbacks(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass `tokenizer` to methods of a callback that ask for it."""
    callback = call.arguments.get("callback")
    kind = callback if isinstance(callback, type) else type(callback)
    for owner in kind.__mro__:
        if owner.__module__.partition(".")[0] in {*_LIBRARIES, "builtins"}:
            continue
        for name, method in list(vars(owner).items()):
            if name.startswith("on_") and inspect.isfunction(method) and _asks(method.__code__):
                surroundings.changed.change(owner, name, _with_tokenizer(method))
                call.mend(
                    row,
                    f"{owner.__name__}.{name}(tokenizer)",
                    f"write {_NEW} for tokenizer",
                    Place(method.__code__.co_filename, method.__code__.co_firstlineno),
                )


def _asks(code: CodeType) -> bool:
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return _NEW not in parameters and (_OLD in parameters or _OLD in code.co_consts)


def _with_tokenizer(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **{_OLD: kwargs.get(_NEW), **kwargs})

    return called
