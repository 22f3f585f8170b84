"""Arguments by position, in the order of an older release."""

from __future__ import annotations

from ...legacy.changes import Order
from ...legacy.converting.order import fitting
from ...legacy.versions.due import MethodRows
from ..reading.kinship import ancestors
from ..reading.script import Call, Given
from ..reading.values import Made

_KINDS = {
    "transformers.TrainingArguments": "args",
    "datasets.Dataset": "train_dataset",
    "transformers.PreTrainedTokenizerBase": "tokenizer",
    "transformers.PreTrainedModel": "model",
    "peft.PeftModel": "model",
    "peft.LoraConfig": "peft_config",
}


def fitting_order(call: Call, rows: MethodRows) -> Order | None:
    """Return the old order of the arguments of a call; None if the current one may be meant."""
    if not rows.orders or len(call.positional) < 2:
        return None
    kinds = [_kind(given) for given in call.positional]
    return fitting(kinds, rows.orders[0].today, rows.orders)


def _kind(given: Given) -> str | None:
    """Return the parameter that a value is an argument of; None if any might be."""
    if isinstance(given.value, float):
        return "beta"
    if isinstance(given.value, str):
        return "loss_type"
    for value in given.values:
        if isinstance(value, Made):
            known = (_KINDS.get(name) for name in ancestors(value.kind))
            return next((name for name in known if name is not None), None)
    return None
