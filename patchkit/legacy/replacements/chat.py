"""Chat formats of TRL before 0.26."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class ChatMlSpecialTokens:
    """The special tokens of ChatML, and its chat template."""

    bos_token: str = "<|im_start|>"
    eos_token: str = "<|im_end|>"
    pad_token: str = "<|im_end|>"

    @property
    def system(self) -> str:
        return f"{self.bos_token}system"

    @property
    def user(self) -> str:
        return f"{self.bos_token}user"

    @property
    def assistant(self) -> str:
        return f"{self.bos_token}assistant"

    @property
    def chat_template(self) -> str:
        turn = f"'{self.bos_token}' + message['role'] + '\n' + message['content']"
        return (
            "{% for message in messages %}"
            "{{" + turn + f" + '{self.eos_token}' + '\n'" + "}}"
            "{% endfor %}"
            "{% if add_generation_prompt %}{{ '" + self.assistant + "\n' }}{% endif %}"
        )


SIMPLE_CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{message['role'].capitalize() + ': ' + message['content'] + '\n\n'}}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
SIMPLE_SFT_CHAT_TEMPLATE = (
    "{% for message in messages %}{{' ' + message['content']}}{% endfor %}{{ eos_token }}"
)
SIMPLE_QUERY_CHAT_TEMPLATE = "{% for message in messages %}{{' ' + message['content']}}{% endfor %}"
FORMAT_MAPPING = {"chatml": ChatMlSpecialTokens}


def setup_chat_format(
    model: Any,
    tokenizer: Any,
    format: str | None = "chatml",  # noqa: A002 - the keyword of scripts
    resize_to_multiple_of: int | None = None,
) -> tuple[Any, Any]:
    """Give a tokenizer the tokens and the template of a chat format, and a model room for them.

    Args:
        model: its embeddings are resized; its configurations get the ids of the tokens.
        tokenizer: it is changed. A chat template that it has is replaced; later releases refused
            that.
        format: the name of the format.
        resize_to_multiple_of: the number of embeddings becomes a multiple of this.

    Returns:
        both.

    Raises:
        ValueError: there is no such format.
    """
    if format not in FORMAT_MAPPING:
        raise ValueError(
            f"Format {format} not available. Please use one of {FORMAT_MAPPING.keys()}"
        )
    tokens = FORMAT_MAPPING[format]()
    tokenizer.add_special_tokens(
        {
            "bos_token": tokens.bos_token,
            "eos_token": tokens.eos_token,
            "pad_token": tokens.pad_token,
        }
    )
    tokenizer.chat_template = tokens.chat_template
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=resize_to_multiple_of)
    for configuration in (
        getattr(model, "config", None),
        getattr(model, "generation_config", None),
    ):
        if configuration is not None:
            configuration.bos_token_id = tokenizer.bos_token_id
            configuration.eos_token_id = tokenizer.eos_token_id
            configuration.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer
