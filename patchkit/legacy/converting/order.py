"""Arguments by position, in the order of an older release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, signature
from types import FunctionType, MethodType
from typing import Any

from ..changes import Order
from .call import OldCall

METRICS, _LOSS, OPTIMIZERS = "compute_metrics", "compute_loss_func", "optimizers"
"""A function of one argument computes metrics, or something else, but no loss."""
_CLASSES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "args": (("transformers.training_args", "TrainingArguments"),),
    "train_dataset": (
        ("datasets.arrow_dataset", "Dataset"),
        ("datasets.iterable_dataset", "IterableDataset"),
        ("torch.utils.data", "Dataset"),
    ),
    "tokenizer": (("transformers.tokenization_utils_base", "PreTrainedTokenizerBase"),),
    "peft_config": (("peft.config", "PeftConfig"),),
    OPTIMIZERS: (("builtins", "tuple"),),
    "model": (("torch.nn", "Module"),),
    "beta": (("builtins", "float"),),
    "loss_type": (("builtins", "str"),),
}
"""Parameters, and the classes of their arguments; a class is looked up once it is loaded."""
_ALIKE = {
    "config": "args",
    "eval_dataset": "train_dataset",
    "processing_class": "tokenizer",
    "policy": "model",
    "ref_policy": "model",
    "ref_model": "model",
    "reward_model": "model",
    "reward_funcs": "model",
    "teacher_model": "model",
    "value_model": "model",
    "label_smoothing": "beta",
    "truncation_mode": "loss_type",
    "dataset_text_field": "loss_type",
}


_MODEL, _TEXT = "model", "loss_type"
"""A model may be given by its name."""


def positional_to_keyword(
    call: OldCall, args: Sequence[Any], kwargs: Mapping[str, Any], rows: Iterable[Order]
) -> OldCall:
    """Return the call with positional arguments in an old order given by keyword."""
    row = fitting([_parameter(value) for value in args], call.method.positional, rows)
    if row is None:
        return call
    named = dict(zip(row.order, args, strict=False))
    call = call.again((), {**named, **kwargs})
    given = ", ".join(f"{name}=…" for name in named)
    call.fix(row, f"the order of the arguments of {call.name}", f"write {call.name}({given})")
    return call


def fitting(
    parameters: Sequence[str | None], current: Sequence[str], rows: Iterable[Order]
) -> Order | None:
    """Return the old order that the arguments were given in.

    Args:
        parameters: for each argument by position the parameter that it fits; None if any may be.
        current: the names of the parameters, in the current order.
        rows: old orders, the newest first.

    Returns:
        the first that these parameters allow; None if the current order allows them, too.
    """
    if _allows(current, parameters):
        return None
    return next((row for row in rows if _allows(row.order, parameters)), None)


def _allows(order: Sequence[str], parameters: Sequence[str | None]) -> bool:
    return len(parameters) <= len(order) and all(
        fitting is None
        or fitting == _ALIKE.get(name, name)
        or (fitting == _TEXT and _ALIKE.get(name, name) == _MODEL)
        or (fitting == METRICS and name != _LOSS)
        for name, fitting in zip(order, parameters, strict=False)
    )


def _parameter(value: Any) -> str | None:
    """Return the parameter that a value fits; None if it may fit any."""
    if value is None:
        return None
    for name, classes in _CLASSES.items():
        for module, cls in classes:
            loaded = getattr(sys.modules.get(module), cls, None)
            if isinstance(loaded, type) and isinstance(value, loaded):
                return name
    is_function = isinstance(value, (FunctionType, MethodType))
    return METRICS if is_function and _takes_one(value) else None


def _takes_one(function: Callable[..., Any]) -> bool:
    """Tell whether a function takes one argument by position, and not two."""
    parameters = signature(function).parameters.values()
    return [each.kind for each in parameters if each.kind is not each.KEYWORD_ONLY] in (
        [Parameter.POSITIONAL_OR_KEYWORD],
        [Parameter.POSITIONAL_ONLY],
    )
