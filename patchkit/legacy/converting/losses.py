"""Losses of models, which trainers divided among the batches of a step."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import CodeType
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
    model = trainer.model
    model = model.get_base_model() if hasattr(model, "get_base_model") else model
    forward = inspect.unwrap(type(model).forward)
    if hasattr(model, _SAYS_SO) or not returns_a_mean(forward.__code__):
        return result
    if (owner_of_function(forward).whose is Whose.USER) != (whose == "own"):
        return result
    name = type(model).__name__
    old = f"the mean of the losses of {batches} batches, where {name} returns that of one,"
    advice = f"set trainer.{_ACCEPTS} = False, or the step takes their sum"
    if call.is_of_older_script(row):
        setattr(trainer, _ACCEPTS, False)
        call.fix(row, old, advice)
    elif call.written_for is None:
        call.tell(row, old, f"{old} {since(row)}; {advice}")
    return result


def returns_a_mean(code: CodeType) -> bool:
    """Tell whether the loss that code makes is the mean of a batch, whatever else a step has."""
    names = set(_names(code))
    return names.isdisjoint(_COUNT) and any(_MEAN.fullmatch(name) for name in names)


def _names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_varnames)
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _names(constant)
