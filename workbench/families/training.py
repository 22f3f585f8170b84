"""The trainers of tasks: Transformers' own, and TRL's."""

from __future__ import annotations

import copy
from typing import Any

from patchkit.environment import installed_version
from patchkit.lab import tiny, trainers

from .images import Batch
from .loading import Untried
from .model_types import TASKS

MOST_STEPS = 30
"""How many it may take until a gradient scaler, which begins at 65536, has skipped no more."""


def training_classes(task: str) -> tuple[type[Any], type[Any]]:
    """Return the class of a task's trainer, and that of its arguments.

    Raises:
        Untried: TRL is missing.
    """
    import transformers

    if not TASKS[task].trainer:
        return transformers.Trainer, transformers.TrainingArguments
    if installed_version("trl") is None:
        raise Untried("not installed: trl")
    return trainers.find(TASKS[task].trainer).classes()


def to_train(task: str, model: Any, adapters: Any, batch: Batch) -> dict[str, Any]:
    """Return what a task's trainer is given beside its arguments: a model and what it learns from.

    Args:
        task: the task of the model's class.
        model: a loaded model.
        adapters: PEFT's configuration; None to train the whole model.
        batch: what Transformers' trainer feeds. TRL's make batches of texts.
    """
    import peft

    if TASKS[task].trainer:
        import datasets

        rows = trainers.find(TASKS[task].trainer).rows()
        return {
            "model": model,
            "peft_config": adapters,
            "train_dataset": datasets.Dataset.from_list(rows),
            "processing_class": tiny.make_tokenizer(),
        }
    return {
        "model": model if adapters is None else peft.get_peft_model(model, adapters),
        "train_dataset": list(range(MOST_STEPS)),
        "data_collator": lambda rows: copy.deepcopy(batch),
    }
