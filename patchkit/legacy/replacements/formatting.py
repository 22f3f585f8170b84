"""Functions that make texts of the rows of a dataset, from `trl.extras.dataset_formatting`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Formatting = Callable[[Mapping[str, Any]], "str | list[str]"]


def conversations_formatting_function(
    tokenizer: Any, messages_field: str, tools: list[Any] | None = None
) -> Formatting:
    """Return a function that puts the chat template on a column of messages.

    Args:
        tokenizer: it has the template.
        messages_field: the name of the column.
        tools: they are handed to the template.
    """

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
    """Return a function that puts the chat template on the columns prompt and completion.

    Args:
        tokenizer: it has the template.
    """

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
    """Return the formatting function for the columns of a dataset; None if there is none.

    Args:
        dataset: one with columns messages or conversations, or with prompt and completion.
        tokenizer: it has the chat template.
        tools: they are handed to the template.
    """
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
