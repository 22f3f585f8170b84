"""Methods of a script's own trainers, with the parameters of their time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...changes import Adjusted
from ...guarding.libraries import belongs_to_a_library, library_class, own_classes, own_methods
from ...uses import Place
from ..call import Call
from .surroundings import Surroundings

_LOSS = "compute_loss"
_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def former_parameters(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Call a method of a script's own trainer without the parameters that came after it.

    Args:
        call: the call of a trainer's constructor.
        row: its name is that of the method.
        surroundings: what is changed is remembered there.
    """
    for kind, method in own_methods(type(call.instance), row.name):
        current = getattr(library_class(kind), row.name, None)
        if current is None or _is_adapted(method):
            continue
        names = _lacking(method, current)
        if names:
            adapted = _adapted(method, current)
            surroundings.changed.change(kind, row.name, adapted)
            call.fix(
                row,
                f"{kind.__name__}.{row.name} without {', '.join(names)}",
                f"give it {', '.join(names)} as a parameter",
                Place.of_function(method),
            )


def without_start(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Do the same for a method whose new parameters the trainer's own has no defaults for.

    What a script hands on to that one lacks them, and None is as good.
    """
    former_parameters(call, row, surroundings)
    kinds = type(call.instance).__mro__
    if any(_is_adapted(vars(kind).get(row.name)) for kind in own_classes(kinds[0])):
        owner = next(
            kind for kind in kinds if belongs_to_a_library(kind) and row.name in vars(kind)
        )
        if not _is_adapted(vars(owner)[row.name]):
            surroundings.changed.change(owner, row.name, _filled_in(vars(owner)[row.name]))


def _lacking(method: Callable[..., Any], current: Callable[..., Any]) -> list[str]:
    """Return the parameters that a method does not have and may be called with."""
    own = inspect.signature(method).parameters
    if any(known.kind in _ANY for known in own.values()):
        return []
    new = inspect.signature(current).parameters.values()
    # What is called by position goes by its place, whatever it is named.
    return [known.name for known in list(new)[len(own) :] if known.kind not in _ANY] or [
        known.name for known in new if known.name not in own and len(new) > len(own)
    ]


def _is_adapted(method: Any) -> bool:
    while isinstance(method, FunctionType):
        if method.__code__.co_filename == __file__:
            return True
        method = getattr(method, "__wrapped__", None)
    return False


def _filled_in(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    def filled_in(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind_partial(*args, **kwargs).arguments
        missing = {
            name: None
            for name, known in signature.parameters.items()
            if known.default is known.empty and name not in given
        }
        return method(*args, **kwargs, **missing)

    return filled_in


def _adapted(method: Callable[..., Any], current: Callable[..., Any]) -> Callable[..., Any]:
    signature, own = inspect.signature(current), list(inspect.signature(method).parameters)
    by_name = set(own) <= set(signature.parameters)

    @functools.wraps(method)
    def adapted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if method.__name__ == _LOSS:
            # What it returns is the mean of a batch, which is to be divided by their number.
            self.model_accepts_loss_kwargs = self.loss_is_scaled_for_ga = False
        if not by_name:
            known = {name: value for name, value in kwargs.items() if name in own}
            return method(self, *args[: len(own) - 1], **known)
        given = signature.bind_partial(self, *args, **kwargs).arguments
        return method(self, **{name: given[name] for name in own[1:] if name in given})

    return adapted
