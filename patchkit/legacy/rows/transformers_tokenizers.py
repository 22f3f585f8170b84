"""What else tokenizers had before Transformers 5."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from ..changes import Attribute, Change, Rename
from .many import keywords

_V5 = "transformers 5.0.0"
_TOKENIZER = "transformers.PreTrainedTokenizerBase"


def _prepare(tokenizer: Any) -> Callable[..., Any]:
    from ..converting.tokenizing import prepare_for_model

    return partial(prepare_for_model, tokenizer)


def _special_tokens(tokenizer: Any) -> dict[str, Any]:
    extra = tokenizer.extra_special_tokens
    more = {"additional_special_tokens": extra} if extra else {}
    return {**tokenizer.special_tokens_map, **more}


_READ: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "prepare_for_model": (_prepare, "give the text to the tokenizer", ""),
    "special_tokens_map_extended": (_special_tokens, "write special_tokens_map", ""),
    "all_special_tokens_extended": (
        attrgetter("all_special_tokens"),
        "write all_special_tokens",
        "{object}.all_special_tokens",
    ),
}
"""By the old name: what reads the value, what to write instead, and the source of that."""

ROWS: tuple[Change, ...] = (
    *(
        Attribute(
            owners=(_TOKENIZER,),
            name=name,
            read=read,
            advice=advice,
            written=written,
            gone=_V5,
        )
        for name, (read, advice, written) in _READ.items()
    ),
    *keywords(
        (f"{_TOKENIZER}.add_special_tokens",),
        {"replace_additional_special_tokens": Rename("replace_extra_special_tokens")},
        gone=_V5,
        since=_V5,
    ),
)
