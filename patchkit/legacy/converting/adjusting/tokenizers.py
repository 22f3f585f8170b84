"""Tokenizers of a type, or with a token, that the libraries no longer know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...changes import Adjusted
from ..call import OldCall, Surroundings

_TYPE = "tokenizer_type"


def type_of_files(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave the type of a tokenizer to its files, if `AutoTokenizer` no longer knows its name."""
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    named = call.unknown.get(_TYPE)
    if named is not None and TOKENIZER_MAPPING_NAMES.get(named) is None:
        del call.unknown[_TYPE]
        call.fix(
            row, f"{call.name}({_TYPE}={named!r})", "leave it out: the tokenizer's files say it"
        )


def names_type(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a call names the type of a tokenizer."""
    return kwargs.get(_TYPE) is not None


def pad_token(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Let a pad token that is not in the vocabulary be the unknown token, as it was.

    Raises:
        LegacyError: there is no unknown token.
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
    old = f"{call.name} with a pad token that is not in the vocabulary, {token!r},"
    own = (
        f"tokenizer.add_special_tokens({{'pad_token': {token!r}}}) and "
        "model.resize_token_embeddings(len(tokenizer))"
    )
    if unknown is None:
        raise call.refuse(row, old, f"For a token of its own write {own}.")
    tokenizer.pad_token = unknown
    call.fix(
        row,
        old,
        f"write tokenizer.pad_token = tokenizer.unk_token, which it stood for; for a token of its "
        f"own write {own}",
    )
