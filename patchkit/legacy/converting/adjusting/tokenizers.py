"""Kinds of tokenizers that `AutoTokenizer` knows by name no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings

_TYPE = "tokenizer_type"


def type_of_files(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave the kind of a tokenizer to its files, if it has no name of its own today."""
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    named = call.unknown.get(_TYPE)
    if named is not None and TOKENIZER_MAPPING_NAMES.get(named) is None:
        del call.unknown[_TYPE]
        call.fix(
            row, f"{call.name}({_TYPE}={named!r})", "leave it out: the tokenizer's files say it"
        )


def names_type(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a call names the kind of a tokenizer."""
    return kwargs.get(_TYPE) is not None
