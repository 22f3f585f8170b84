"""Tokens that a tokenizer has by name and not in its vocabulary."""

from __future__ import annotations

from typing import Any

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings


def pad_token(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Refuse to pad with a token that is not in the vocabulary, which stood for the unknown one.

    Args:
        call: the call of a trainer's constructor.
        row: the row of the table.
        surroundings: not used.
    """
    given = call.arguments
    processor = given.get("processing_class")
    tokenizer: Any = getattr(processor, "tokenizer", processor)
    token = getattr(tokenizer, "pad_token", None)
    chosen = getattr(given.get("args"), "pad_token", None)
    if token is None or chosen is not None or given.get("data_collator") is not None:
        return
    if token in tokenizer.get_vocab():
        return
    unknown = getattr(tokenizer, "unk_token", None)
    before = ""
    if unknown is not None:
        before = f"It stood for {unknown!r}: write tokenizer.pad_token = tokenizer.unk_token. "
    raise call.refuse(
        row,
        f"{call.name} with a pad token that is not in the vocabulary, {token!r},",
        f"{before}For a token of its own write tokenizer.add_special_tokens({{'pad_token': "
        f"{token!r}}}) and model.resize_token_embeddings(len(tokenizer)).",
    )
