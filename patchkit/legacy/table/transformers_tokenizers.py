"""Methods and attributes that tokenizers had before Transformers 5."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from .. import tokenizers
from ..changes import Attribute, Change, Convert, Rename
from .rows import keywords
from .sources import notes

_V5 = "https://github.com/huggingface/transformers/blob/v5.0.0/MIGRATION_GUIDE_V5.md"
_TOKENIZERS = ("transformers.PreTrainedTokenizerBase",)
_EXTRA = "extra_special_tokens"


def _special(tokenizer: Any) -> dict[str, Any]:
    extra = tokenizer.extra_special_tokens
    return {
        **tokenizer.special_tokens_map,
        **({"additional_special_tokens": extra} if extra else {}),
    }


_READ: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "encode_plus": (
        tokenizers.method(tokenizers.encode_plus),
        "call the tokenizer",
        "{object}",
    ),
    "batch_encode_plus": (
        tokenizers.method(tokenizers.batch_encode_plus),
        "call the tokenizer",
        "{object}",
    ),
    "as_target_tokenizer": (
        tokenizers.method(tokenizers.as_target_tokenizer),
        "give the targets to the tokenizer as text_target=",
        "",
    ),
    "prepare_for_model": (
        tokenizers.method(tokenizers.prepare_for_model),
        "give the text to the tokenizer",
        "",
    ),
    "build_inputs_with_special_tokens": (
        tokenizers.method(tokenizers.build_inputs_with_special_tokens),
        "give the text to the tokenizer",
        "",
    ),
    "additional_special_tokens": (
        attrgetter(_EXTRA),
        f"write {_EXTRA}",
        f"{{object}}.{_EXTRA}",
    ),
    "additional_special_tokens_ids": (
        attrgetter(f"{_EXTRA}_ids"),
        f"write {_EXTRA}_ids",
        f"{{object}}.{_EXTRA}_ids",
    ),
    "special_tokens_map_extended": (_special, "write special_tokens_map", ""),
    "all_special_tokens_extended": (
        attrgetter("all_special_tokens"),
        "write all_special_tokens",
        "{object}.all_special_tokens",
    ),
}
"""By the old name: what reads the value, what to write instead, and the source of that."""


def _rows() -> Iterator[Change]:
    for name, (read, advice, written) in _READ.items():
        yield Attribute(
            owners=_TOKENIZERS,
            name=name,
            read=read,
            advice=advice,
            written=written,
            gone="transformers 5.0.0",
            source=_V5,
        )
    yield from keywords(
        ("transformers.PreTrainedTokenizerBase.add_special_tokens",),
        {"replace_additional_special_tokens": Rename("replace_extra_special_tokens")},
        gone="transformers 5.0.0",
        since="transformers 5.0.0",
        source=_V5,
    )

    yield from keywords(
        tuple(f"{_TOKENIZERS[0]}.{method}" for method in ("__call__", "encode")),
        {
            "pad_to_max_length": Convert("padding", tokenizers.padding),
            "truncation_strategy": Convert("truncation", tokenizers.truncation),
        },
        gone="transformers 4.52.0",
        since="transformers 4.36.0",
        source=notes("transformers 4.52.0"),
    )


ROWS: tuple[Change, ...] = tuple(_rows())
