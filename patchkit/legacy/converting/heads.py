"""Adapters on a language model's head, which SFTTrainer trained."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_HEAD = "lm_head"
_LAYERS = "BaseTunerLayer"


def train_adapter_of_head(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Compute the loss from logits where the head has an adapter.

    Current releases of `SFTTrainer` multiply by the weight of the head and would never train its
    adapter. They refuse such a model, but can take a loss from logits, which honours the adapter.
    """
    arguments = call.arguments
    settings = arguments.get("args")
    if not _has_adapter(arguments) or getattr(settings, "loss_type", "nll") == "dft":
        return proceed()
    module = sys.modules["trl.trainer.sft_trainer"]
    layers = vars(module).get(_LAYERS)
    if layers is None:
        return proceed()
    if not getattr(settings, "label_smoothing_factor", 0):
        arguments.setdefault("compute_loss_func", loss_from_logits)
    old = f"{call.name} with an adapter on {_HEAD}"
    call.fix(row, old, "patchkit has the loss computed from logits, with a second forward pass")
    setattr(module, _LAYERS, ())  # so that it refuses no layer
    try:
        return proceed()
    finally:
        setattr(module, _LAYERS, layers)


def refuse_adapter_of_head(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Say since when a trainer refuses an adapter on the head."""
    try:
        return proceed()
    except ValueError as error:
        if f"adapter to `{_HEAD}`" not in str(error):
            raise
        old, advice = f"{call.name} with an adapter on {_HEAD}", "Leave it out of target_modules."
        raise call.refuse(row, old, advice) from error


def loss_from_logits(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """Return the mean loss of the next tokens."""
    import torch

    logits = outputs.logits[..., :-1, :].float()
    targets = labels[..., 1:].to(logits.device)
    reduction = "mean" if num_items_in_batch is None else "sum"
    loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=-100, reduction=reduction
    )
    return loss if num_items_in_batch is None else loss / num_items_in_batch


def _has_adapter(arguments: dict[str, Any]) -> bool:
    adapters = arguments.get("peft_config")
    names = getattr(adapters, "target_modules", None) or ()
    if isinstance(names, str):
        return names.endswith(_HEAD)
    if any(name.rpartition(".")[2] == _HEAD for name in names):
        return True
    model: Any = arguments.get("model")
    if not hasattr(model, "peft_config"):
        return False
    from peft.tuners.tuners_utils import BaseTunerLayer

    return isinstance(model.get_output_embeddings(), BaseTunerLayer)
