"""Measure how far TRL's moving averages follow a model that has moved, by their callbacks."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_MOVED = 0.005


def share_covered_by_bema(dtype: str, *, updates: int, **options: Any) -> float:
    """Return the share of the way that BEMA's average has come after some updates.

    Args:
        dtype: the dtype of the model.
        updates: number of updates of the average.
        options: `BEMACallback` arguments, over the defaults; only the average is measured.
    """
    from trl import BEMACallback

    callback = BEMACallback(**{"update_freq": 1, "ema_power": 1.0, **options})
    model = _model(dtype)
    state = types.SimpleNamespace(global_step=0)
    callback.on_train_begin(None, state, None, model=model)
    start, end = _move(model)
    for step in range(1, updates + 1):
        state.global_step = step
        callback.on_step_end(None, state, None, model=model)
    return _share(start, callback.ema_params, end)


def share_covered_by_reference(dtype: str, *, alpha: float, updates: int) -> float:
    """Return the share of the way that a reference model has come after some synchronizations."""
    import accelerate
    from trl.trainer.callbacks import SyncRefModelCallback

    accelerate.Accelerator(cpu=True)  # the callback reads its state for DeepSpeed
    model, reference = _model(dtype), _model(dtype)
    callback = SyncRefModelCallback(ref_model=reference, accelerator=None)
    arguments = types.SimpleNamespace(ref_model_sync_steps=1, ref_model_mixup_alpha=alpha)
    start, end = _move(model)
    for step in range(1, updates + 1):
        state = types.SimpleNamespace(global_step=step)
        callback.on_step_end(arguments, state, None, model=model)
    return _share(start, list(reference.parameters()), end)


def _model(dtype: str) -> Any:
    from patchkit.lab import tiny

    tiny.go_offline()
    import torch
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(config).to(getattr(torch, dtype))


def _move(model: Any) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Move all weights by half a percent; return the parameters before and after."""
    start = [parameter.detach().float().clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.data.mul_(1 + _MOVED)
    return start, [parameter.detach().float().clone() for parameter in model.parameters()]


def _share(
    start: list[torch.Tensor], average: list[torch.Tensor], end: list[torch.Tensor]
) -> float:
    import torch

    def distance(tensors: list[torch.Tensor]) -> float:
        gaps = [
            (tensor.detach().float() - begin) for tensor, begin in zip(tensors, start, strict=True)
        ]
        return float(torch.cat([gap.abs().flatten() for gap in gaps]).sum())

    return distance(average) / distance(end)
