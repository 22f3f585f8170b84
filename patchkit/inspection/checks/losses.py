"""Check that the losses of the batches of a step add up to the loss of the step."""

from __future__ import annotations

from typing import Any

from .. import repairs
from ..facts import TrainingFacts
from ..findings import Finding, found

_MADE_OTHERWISE = ("compute_loss_func", "label_smoother", "loss_is_scaled_for_ga")
"""Attributes of a trainer that makes its losses in another way, or was told what they are."""


def added_up(facts: TrainingFacts) -> Finding | None:
    """Find a trainer that adds up means, for it takes them for shares of the step's loss.

    It does so for models whose `forward` has `**kwargs` since Transformers 4.46, and those of BERT,
    T5, BART, Whisper and their kin have them since 5.0, though their losses are means
    (huggingface/transformers#34191 is where the division went).
    """
    trainer = facts.subject.trainer
    batches = getattr(facts.args, "gradient_accumulation_steps", 1)
    if batches < 2 or not getattr(trainer, "model_accepts_loss_kwargs", False):
        return None
    if any(getattr(trainer, name, None) is not None for name in _MADE_OTHERWISE):
        return None
    maker = _maker_of_the_loss(trainer)
    if maker is None:
        return None
    repair = repairs.divide_losses(trainer)
    return found("losses-added-up", batches=batches, maker=maker, repair=repair)


def _maker_of_the_loss(trainer: Any) -> str | None:
    """Name the method that returns a mean; None if the loss may be anything else."""
    from ...legacy.converting.losses import class_with_mean_loss, returns_a_mean

    own = type(trainer).compute_loss
    if own.__module__ != "transformers.trainer":
        return f"{type(trainer).__name__}.compute_loss" if returns_a_mean(own) else None
    cls = class_with_mean_loss(trainer.accelerator.unwrap_model(trainer.model))
    return f"{cls.__name__}.forward" if cls else None
