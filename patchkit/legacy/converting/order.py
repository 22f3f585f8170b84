"""Arguments by position, in the order of an older release."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..changes import Order
from .call import Call

_KINDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "args": (("transformers.training_args", "TrainingArguments"),),
    "train_dataset": (
        ("datasets.arrow_dataset", "Dataset"),
        ("datasets.iterable_dataset", "IterableDataset"),
        ("torch.utils.data", "Dataset"),
    ),
    "tokenizer": (("transformers.tokenization_utils_base", "PreTrainedTokenizerBase"),),
    "peft_config": (("peft.config", "PeftConfig"),),
    "model": (("torch.nn", "Module"),),
    "beta": (("builtins", "float"),),
    "loss_type": (("builtins", "str"),),
}
"""A parameter to the classes that its arguments have; each is looked up once it is loaded."""
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
    call: Call, args: Sequence[Any], kwargs: Mapping[str, Any], rows: Iterable[Order]
) -> Call:
    """Return a call with the names that its positional arguments had.

    Args:
        call: the call, as the current order has it.
        args: the positional arguments.
        kwargs: the keywords.
        rows: old orders, the newest first.
    """
    row = fitting([_kind(value) for value in args], call.method.positional, rows)
    if row is None:
        return call
    named = dict(zip(row.order, args, strict=False))
    call = call.again((), {**named, **kwargs})
    given = ", ".join(f"{name}=…" for name in named)
    call.fix(row, f"the order of the arguments of {call.name}", f"write {call.name}({given})")
    return call


def fitting(
    kinds: Sequence[str | None], today: Sequence[str], rows: Iterable[Order]
) -> Order | None:
    """Return the old order that the arguments were given in.

    Args:
        kinds: for each argument by position the parameter that it is one of; None if any may be.
        today: the names of the parameters, in the current order.
        rows: old orders, the newest first.

    Returns:
        the first that the kinds of the arguments allow; None if the current order allows them, too.
    """
    if _allows(today, kinds):
        return None
    return next((row for row in rows if _allows(row.order, kinds)), None)


def _allows(order: Sequence[str], kinds: Sequence[str | None]) -> bool:
    return len(kinds) <= len(order) and all(
        kind is None
        or kind == _ALIKE.get(name, name)
        or (kind == _TEXT and _ALIKE.get(name, name) == _MODEL)
        for name, kind in zip(order, kinds, strict=False)
    )


def _kind(value: Any) -> str | None:
    """Return the parameter that a value is an argument of; None if any might be."""
    if value is None:
        return None
    for name, classes in _KINDS.items():
        for module, kind in classes:
            loaded = getattr(sys.modules.get(module), kind, None)
            if isinstance(loaded, type) and isinstance(value, loaded):
                return name
    return None
