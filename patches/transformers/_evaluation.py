"""Evaluation in half precision of a model that is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from patchkit.precision.borrowed import restore_dtypes


def around_evaluation(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap the loop of `Trainer.evaluate()` and `predict()`."""
    if not is_casting_trained_model(instance):
        return wrapped(*args, **kwargs)
    with restore_dtypes(instance.model):
        return wrapped(*args, **kwargs)


def is_casting_trained_model(trainer: Any) -> bool:
    """Tell whether a trainer is about to cast its model for an evaluation, and may train it later.

    Within `train()` it does not cast. One that has neither a training set nor an optimizer only
    evaluates: its model stays in half precision, which is what saves memory there. FSDP and
    DeepSpeed hold the parameters themselves.

    Args:
        trainer: a `transformers.Trainer`.
    """
    casts = trainer.args.fp16_full_eval or trainer.args.bf16_full_eval
    if not casts or trainer.is_in_train:
        return False
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        return False
    return trainer.train_dataset is not None or trainer.optimizer is not None
