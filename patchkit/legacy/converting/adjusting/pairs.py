"""Losses of a script's own reward trainers, which read the two sides of a batch by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...changes import Adjusted
from ...guarding.libraries import own_methods
from ...uses import Place
from ..call import Call
from .surroundings import Surroundings

_LOSS = "compute_loss"
_SIDES = ("chosen", "rejected")
_PARTS = ("input_ids", "attention_mask")
_CHOSEN = "input_ids_chosen"
_APART = "_patchkit_apart"
"""The attribute of a loss that gets both sides."""


def sides_apart(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Give a loss that reads `input_ids_chosen` the two halves of a batch by those names."""
    for kind, loss in own_methods(type(call.instance), _LOSS):
        if hasattr(loss, _APART):
            continue
        if _CHOSEN in inspect.unwrap(loss).__code__.co_consts:
            surroundings.changed.change(kind, _LOSS, _with_sides(loss))
            call.fix(
                row,
                f'{kind.__name__}.{_LOSS} with inputs["{_CHOSEN}"]',
                'take the halves of inputs["input_ids"]: torch.chunk(…, 2)',
                Place.of_function(loss),
            )


def _with_sides(loss: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(loss)
    def with_sides(
        self: Any, model: Any, inputs: Mapping[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        given = dict(inputs) if _CHOSEN in inputs else {**inputs, **_apart(inputs)}
        return loss(self, model, given, *args, **kwargs)

    setattr(with_sides, _APART, True)
    return with_sides


def _apart(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{part}_{side}": half
        for part in _PARTS
        for side, half in zip(_SIDES, inputs[part].chunk(2), strict=True)
    }
