"""List the model types that the installed Transformers knows, by task."""

from __future__ import annotations

from typing import Any

#: Task to the mapping of Transformers that lists its types, and to its class for loading them.
TASKS = {
    "causal": ("MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "AutoModelForCausalLM"),
    "seq2seq": ("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES", "AutoModelForSeq2SeqLM"),
    "classification": (
        "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
        "AutoModelForSequenceClassification",
    ),
    "vision": ("MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES", "AutoModelForImageTextToText"),
}


def names_by_task() -> dict[str, list[str]]:
    """Return the names of all model types by task; a task that this release lacks has none."""
    from transformers.models.auto import modeling_auto

    return {
        task: sorted(getattr(modeling_auto, mapping, {})) for task, (mapping, _) in TASKS.items()
    }


def loader(task: str) -> Any:
    """Return the class that loads models for a task."""
    import transformers

    return getattr(transformers, TASKS[task][1])
