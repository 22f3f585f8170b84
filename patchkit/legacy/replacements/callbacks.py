"""Callbacks of TRL before 0.7.5."""

from __future__ import annotations

from transformers import TrainerCallback


class PeftSavingCallback(TrainerCallback):
    """Stand for what saved an adapter with each checkpoint: trainers do so by themselves."""
