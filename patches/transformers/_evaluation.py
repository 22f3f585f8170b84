"""Evaluation in half precision of a model that is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from patchkit.precision.borrowed import dtypes_given_back


def around_evaluation(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wraps the loop of `Trainer.evaluate()` and `predict()`."""
    if not casts_what_is_trained(instance):
        return wrapped(*args, **kwargs)
    with dtypes_given_back(instance.model):
        return wrapped(*args, **kwargs)


def casts_what_is_trained(trainer: Any) -> bool:
    """Whether a trainer is about to cast its model for an evaluation, and may train it later.

    Within `train()` it does not cast. One that has neither a training set nor an optimizer only
    evaluates: its model stays in half precision, which is what saves memory there. FSDP and
    DeepSpeed hold the parameters themselves.

    Args:
        trainer: a `transformers.Trainer`.
    """
    asked = trainer.args.fp16_full_eval or trainer.args.bf16_full_eval
    if not asked or trainer.is_in_train:
        return False
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        return False
    return trainer.train_dataset is not None or trainer.optimizer is not None
