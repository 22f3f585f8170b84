"""Callbacks of TRL before 0.7.5."""

from __future__ import annotations

from transformers import TrainerCallback


class PeftSavingCallback(TrainerCallback):
    """Do nothing: trainers now save the adapter with each checkpoint themselves."""
