"""Messages with images."""

from __future__ import annotations

import copy
from typing import Any


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
