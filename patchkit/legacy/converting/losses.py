"""Losses of models, which trainers divided among the batches of a step."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from ...whose import Whose, owner_of_function
from ..changes import Behaviour
from ..wording import since
from .call import OldCall

_ACCEPTS = "model_accepts_loss_kwargs"
_SAYS_SO = "accepts_loss_kwargs"
_COUNT = {"loss_function", "num_items_in_batch"}
"""What code names whose loss is a share of the items of all batches of a step."""
_MEAN = re.compile(
    r"\w+Loss|\w*cross_entropy\w*|(?:ctc|nll|mse|l1|smooth_l1|huber)_loss|loss_(?:fct|fn|func)|criterion"
)


def divided_among_batches(
    whose: str, call: OldCall, row: Behaviour, proceed: Callable[[], Any]
) -> Any:
    """Divide the loss of each batch by the number of batches of a step, if it is a mean.

    A trainer takes the loss of a `forward` with `**kwargs` for a sum over the items of all batches
    of a step. `whose` is that of the `forward` for which a release changed this.
    """
    result = proceed()
    trainer = call.instance
    batches = getattr(getattr(trainer, "args", None), "gradient_accumulation_steps", 1)
    if batches < 2 or not getattr(trainer, _ACCEPTS, False):
        return result
    cls: Any = class_with_mean_loss(trainer.model)
    if cls is None:
        return result
    owner = owner_of_function(inspect.unwrap(cls.forward))
    if (owner.whose is Whose.USER) != (whose == "own"):
        return result
    old = f"the mean of the losses of {batches} batches, where {cls.__name__} returns that of one,"
    advice = f"set trainer.{_ACCEPTS} = False, or the step takes their sum"
    if call.is_of_older_script(row):
        setattr(trainer, _ACCEPTS, False)
        call.fix(row, old, advice)
    elif call.written_for is None:
        call.tell(row, old, f"{old} {since(row)}; {advice}")
    return result


def class_with_mean_loss(model: Any) -> type | None:
    """Return the class of a model, or of an adapter's base, if its loss is the mean of a batch.

    A model that says itself what its losses are needs nobody to look.
    """
    model = model.get_base_model() if hasattr(model, "get_base_model") else model
    cls: Any = type(model)
    return None if hasattr(model, _SAYS_SO) or not returns_a_mean(cls.forward) else cls


def returns_a_mean(function: Callable[..., Any]) -> bool:
    """Tell whether the loss that a function makes is the mean of a batch, whatever a step has."""
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        return False
    names = set(_names(function.__code__))
    return names.isdisjoint(_COUNT) and any(_MEAN.fullmatch(name) for name in names)


def _names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_varnames)
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _names(constant)
