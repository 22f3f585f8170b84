"""Methods of tokenizers, from Transformers before 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_PROBES = ("a", "0", ".")
"""Texts to see with which special tokens a tokenizer surrounds others."""


def encode_one(tokenizer: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
    """Encode a text, or the words or ids of one.

    Args:
        tokenizer: a tokenizer.
        text: a text; a list of words with `is_split_into_words=True`.
        args: what the tokenizer takes after it.
        kwargs: the same by keyword.

    Raises:
        TypeError: a list, which would be taken for a batch today.
    """
    if not isinstance(text, str) and not kwargs.get("is_split_into_words"):
        raise TypeError(
            f"encode_plus() takes a text, or a list of words with is_split_into_words=True; got a "
            f"{type(text).__name__}"
        )
    return tokenizer(text, *args, **kwargs)


def encode_batch(tokenizer: Any, batch: Any, *args: Any, **kwargs: Any) -> Any:
    """Encode a batch of texts, or of pairs of texts."""
    texts = list(batch)
    if texts and all(isinstance(pair, tuple) and len(pair) == 2 for pair in texts):
        first, second = (list(side) for side in zip(*texts, strict=True))
        return tokenizer(first, second, *args, **kwargs)
    return tokenizer(texts, *args, **kwargs)


@contextmanager
def as_target(tokenizer: Any) -> Iterator[None]:
    """Tokenize labels inside of it, as `text_target=` does."""
    _switch(tokenizer, "_switch_to_target_mode")
    tokenizer._in_target_context_manager = True
    try:
        yield
    finally:
        tokenizer._in_target_context_manager = False
        _switch(tokenizer, "_switch_to_input_mode")


def with_special_tokens(
    tokenizer: Any, ids: Sequence[int], others: Sequence[int] | None = None
) -> list[int]:
    """Put the special tokens around ids that a tokenizer puts around those of a text.

    Args:
        tokenizer: a tokenizer.
        ids: those of a text.
        others: those of a second text; None for none.
    """
    if others is None:
        before, after = _around(tokenizer, None)
        return [*before, *ids, *after]
    before, between, after = _around(tokenizer, _PROBES[0])
    return [*before, *ids, *between, *others, *after]


def _around(tokenizer: Any, second: str | None) -> list[list[int]]:
    """Return the special tokens before, between and after texts."""
    probe = next(text for text in _PROBES if tokenizer.encode(text, add_special_tokens=False))
    bare = tokenizer.encode(probe, add_special_tokens=False)
    if second is None:
        whole = tokenizer.encode(probe)
        start = _find(whole, bare, 0)
        return [whole[:start], whole[start + len(bare) :]]
    whole = tokenizer(probe, probe)["input_ids"]
    start = _find(whole, bare, 0)
    again = _find(whole, bare, start + len(bare))
    return [whole[:start], whole[start + len(bare) : again], whole[again + len(bare) :]]


def _find(whole: Sequence[int], part: Sequence[int], start: int) -> int:
    last = len(whole) - len(part) + 1
    return next(at for at in range(start, last) if list(whole[at : at + len(part)]) == part)


def _switch(tokenizer: Any, method: str) -> None:
    if hasattr(tokenizer, method):
        getattr(tokenizer, method)()
