"""Methods of a script's own trainers, with the parameters of their time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from ..call import Call
from ..changes import Adjusted
from ..uses import Place
from ..version_sets import advice
from .surroundings import Surroundings

_LIBRARIES = frozenset({"transformers", "trl", "patchkit", "unsloth", "unsloth_zoo"})
_LOSS = "compute_loss"
_CALLERS = (_LOSS, "training_step", "_prepare_dataset", "get_train_dataloader")
_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def former_parameters(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Call a method of a script's own trainer without the parameters that came after it.

    Args:
        call: the call of a trainer's constructor.
        row: its name is that of the method.
        surroundings: what is changed is remembered there.
    """
    for kind in _own(type(call.instance)):
        method = vars(kind).get(row.name)
        todays = getattr(_librarys(kind), row.name, None)
        if not inspect.isfunction(method) or todays is None or _is_adapted(method):
            continue
        names = _lacking(method, todays)
        if names:
            adapted = _adapted(method, todays)
            surroundings.changed.change(kind, row.name, adapted)
            code = method.__code__
            call.mend(
                row,
                f"{kind.__name__}.{row.name} without {', '.join(names)}",
                f"give it {', '.join(names)} as a parameter",
                Place(code.co_filename, code.co_firstlineno),
            )


def never_called(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse a trainer of a script's own with a method that nothing calls any more.

    A class that computes the loss, or prepares the dataset, by itself may call the method.

    Args:
        call: the call of a trainer's constructor.
        row: its name is that of the method.
        surroundings: not used.
    """
    kinds = list(_own(type(call.instance)))
    if any(name in vars(kind) for kind in kinds for name in _CALLERS):
        return
    for kind in kinds:
        method = vars(kind).get(row.name)
        library = _librarys(kind)
        if method is None or library is None:
            continue
        code = getattr(method, "__func__", method).__code__
        raise call.refuse(
            row,
            f"{kind.__name__}.{row.name}, which {library.__name__} called,",
            f"Override compute_loss instead. {advice(row)}".strip(),
            Place(code.co_filename, code.co_firstlineno),
        )


def _own(kind: type) -> Iterator[type]:
    """Return the classes of a script's that a class derives from, itself among them."""
    return (known for known in kind.__mro__ if known is not object and not _is_librarys(known))


def _librarys(kind: type) -> type | None:
    return next((known for known in kind.__mro__ if _is_librarys(known)), None)


def _is_librarys(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _LIBRARIES


def _lacking(method: Callable[..., Any], todays: Callable[..., Any]) -> list[str]:
    """Return the parameters that a method does not have and may be called with."""
    own = inspect.signature(method).parameters
    if any(known.kind in _ANY for known in own.values()):
        return []
    new = inspect.signature(todays).parameters.values()
    # What is called by position goes by its place, whatever it is named.
    return [known.name for known in list(new)[len(own) :] if known.kind not in _ANY] or [
        known.name for known in new if known.name not in own and len(new) > len(own)
    ]


def _is_adapted(method: Callable[..., Any] | None) -> bool:
    while isinstance(method, FunctionType):
        if method.__code__.co_filename == __file__:
            return True
        method = getattr(method, "__wrapped__", None)
    return False


def _adapted(method: Callable[..., Any], todays: Callable[..., Any]) -> Callable[..., Any]:
    signature, own = inspect.signature(todays), list(inspect.signature(method).parameters)
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
