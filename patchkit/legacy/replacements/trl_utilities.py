"""Functions and classes of TRL's utilities: datasets, messages, divergences, devices."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from enum import Enum
from itertools import chain
from typing import Any

Formatting = Callable[[Mapping[str, Any]], "str | list[str]"]


def conversations_formatting_function(
    tokenizer: Any, messages_field: str, tools: list[Any] | None = None
) -> Formatting:
    """Return a function that applies the chat template to a column of messages."""

    def text(messages: Any) -> str:
        made: str = tokenizer.apply_chat_template(messages, tokenize=False, tools=tools)
        return made

    def format_dataset(examples: Mapping[str, Any]) -> str | list[str]:
        column = examples[messages_field]
        if isinstance(column[0], list):  # a batch
            return [text(messages) for messages in column]
        return text(column)

    return format_dataset


def instructions_formatting_function(tokenizer: Any) -> Formatting:
    """Return a function that applies the chat template to the columns prompt and completion."""

    def text(prompt: str, completion: str) -> str:
        messages = [
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": completion},
        ]
        made: str = tokenizer.apply_chat_template(messages, tokenize=False)
        return made

    def format_dataset(examples: Mapping[str, Any]) -> str | list[str]:
        prompt, completion = examples["prompt"], examples["completion"]
        if isinstance(prompt, list):  # a batch
            return [text(*pair) for pair in zip(prompt, completion, strict=True)]
        return text(prompt, completion)

    return format_dataset


def get_formatting_func_from_dataset(
    dataset: Any, tokenizer: Any, tools: list[Any] | None = None
) -> Formatting | None:
    """Return the formatting function for the columns of a dataset; None if there is none."""
    features = getattr(dataset, "features", None) or {}
    for column in ("messages", "conversations"):
        if column in features and _has_messages(features[column]):
            return conversations_formatting_function(tokenizer, column, tools)
    if set(features) == {"prompt", "completion"} and all(
        getattr(feature, "dtype", None) == "string" for feature in features.values()
    ):
        return instructions_formatting_function(tokenizer)
    return None


def _has_messages(feature: Any) -> bool:
    """Tell whether a column has lists of messages with a role and a content."""
    message = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
    return isinstance(message, Mapping) and set(message) == {"role", "content"}


def pack_examples(
    examples: Mapping[str, list[list[Any]]], seq_length: int
) -> dict[str, list[list[Any]]]:
    """Put rows one after the other, and cut them into rows of a length.

    Args:
        examples: columns of lists.
        seq_length: the length; the last row may be shorter.
    """
    packed = {}
    for name, rows in examples.items():
        whole = list(chain.from_iterable(rows))
        packed[name] = [
            whole[start : start + seq_length] for start in range(0, len(whole), seq_length)
        ]
    return packed


def prepare_multimodal_messages_vllm(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a copy of messages whose images vLLM takes.

    Args:
        messages: a content that is a list has blocks with a type; those of the type `image` get
            the type and the key `image_pil`.
    """
    messages = copy.deepcopy(messages)
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block["type"] == "image":
                block["type"] = "image_pil"
                block["image_pil"] = block.pop("image")
    return messages


def get_kbit_device_map() -> dict[str, int] | None:
    """Return a device map that puts a quantized model on this process's accelerator.

    Returns:
        None without a CUDA or XPU device.
    """
    import torch
    from accelerate import PartialState
    from transformers.utils import is_torch_xpu_available

    if torch.cuda.is_available() or is_torch_xpu_available():
        return {"": PartialState().local_process_index}
    return None


class FDivergenceType(str, Enum):
    """A divergence between the model and its reference."""

    REVERSE_KL = "reverse_kl"
    JS_DIVERGENCE = "js_divergence"
    ALPHA_DIVERGENCE = "alpha_divergence"


class FDivergenceConstants:
    """The parameter of the alpha divergence."""

    ALPHA_DIVERGENCE_COEF_KEY = "alpha_divergence_coef"
    ALPHA_DIVERGENCE_COEF_DEFAULT = 1.0


def compute_accuracy(eval_pred: Any) -> dict[str, float]:
    """Return how often the greatest prediction is the label; ties of two do not count."""
    import numpy as np

    predictions, labels = (np.asarray(part) for part in eval_pred)
    is_of_tokens = predictions.ndim == 3
    counted = labels != -100 if is_of_tokens else predictions[:, 0] != predictions[:, 1]
    right = predictions.argmax(-1)[counted] == labels[counted]
    return {"accuracy": float(right.astype(float).mean())}
