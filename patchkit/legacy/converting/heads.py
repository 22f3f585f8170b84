"""Heads of language models that have adapters, and models that trainers do not train any more."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_HEAD = "lm_head"
_LAYERS = "BaseTunerLayer"
_FUSED = "add_fused_lm_head"
_GENERATION = "generation_config"


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


def refuse_encoder(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Refuse a model with an encoder, whose first step would end in an error about its inputs.

    Raises:
        LegacyError: it is one.
    """
    config = getattr(call.arguments.get("model"), "config", None)
    if getattr(config, "is_encoder_decoder", False):
        old = f"{call.name} of a model with an encoder and a decoder"
        raise call.refuse(row, old, "Train a model that has a decoder only.")
    return proceed()


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


def head_of_own_model(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Compute what a trainer asks of a head from the logits of a model that is of one piece."""
    model = call.arguments.get("model")
    module = sys.modules[call.method.owner.__module__]
    add = vars(module).get(_FUSED)
    if not hasattr(model, "forward") or not hasattr(model, "config") or add is None:
        return proceed()
    if not _is_of_one_piece(_without_adapters(model)):
        return proceed()
    call.fix(
        row,
        f"{call.name} of a model without a base_model and a head",
        "patchkit computes from its logits; give it base_model_prefix, and get_output_embeddings()",
    )
    if not hasattr(model, _GENERATION):
        from transformers import GenerationConfig

        setattr(model, _GENERATION, GenerationConfig())
    setattr(module, _FUSED, functools.partial(_add_head, add))
    try:
        return proceed()
    finally:
        setattr(module, _FUSED, add)


def _without_adapters(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "peft_config") else model


def _is_of_one_piece(model: Any) -> bool:
    if getattr(model, "base_model", model) is model:
        return True
    find = getattr(model, "get_output_embeddings", lambda: None)
    return find() is None


def _add_head(add: Callable[..., Any], model: Any, temperature: float = 1.0, **rest: Any) -> None:
    if not _is_of_one_piece(model):
        add(model, temperature=temperature, **rest)
        return
    forward = model.forward
    taken = inspect.signature(forward).parameters.values()
    names = {known.name for known in taken}
    takes_any = any(known.kind is known.VAR_KEYWORD for known in taken)

    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs = {name: value for name, value in kwargs.items() if takes_any or name in names}
        return forward(*args, **kwargs)

    @functools.wraps(type(model).forward)
    def with_head(self: Any, *args: Any, fused_lm_head: bool = False, **kwargs: Any) -> Any:
        if not fused_lm_head:
            return call(*args, **kwargs)
        labels, shifted = kwargs.pop("labels", None), kwargs.pop("shift_labels", None)
        counted = kwargs.pop("num_items_in_batch", None)
        made = call(*args, **kwargs)
        logits = made["logits"] if isinstance(made, Mapping) else made[0]
        if shifted is None:
            logits, shifted = logits[:, :-1], labels[:, 1:]
        return _outputs(logits.float() / temperature, shifted.to(logits.device), counted)

    model.forward = MethodType(with_head, model)


def _outputs(logits: Any, labels: Any, counted: Any) -> Any:
    """Return what trainers read of a head, by next token, from the logits of each."""
    import torch
    from trl.trainer.utils import FusedCausalLMOutput

    mask = labels != -100
    every = logits.log_softmax(-1)
    chosen = labels.clamp(min=0)
    found = {
        "log_probs": every.gather(-1, chosen.unsqueeze(-1)).squeeze(-1),
        "entropy": -(every.exp() * every).sum(-1),
        "log_sum_sq_probs": torch.logsumexp(2 * every.detach(), -1),
        "mean_logits": logits.detach().mean(-1),
        "is_top1": logits.argmax(-1) == chosen,
    }
    found = {name: value.masked_fill(~mask, 0) for name, value in found.items()}
    loss = -found["log_probs"].sum() / (mask.sum().clamp(min=1) if counted is None else counted)
    return FusedCausalLMOutput(loss=loss, label_mask=mask, **found)


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
