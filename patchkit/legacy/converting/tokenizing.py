"""Methods of tokenizers, from Transformers before 5."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..changes import Behaviour
from ..uses import called_by_library
from ..wording import since
from .call import OldCall

_PROBES = ("a", "0", ".")
"""Texts that show which special tokens a tokenizer puts around a text."""


def encode_one(tokenizer: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
    """Encode a text, or a list of its words with `is_split_into_words=True`.

    Raises:
        TypeError: a list, which current tokenizers would take for a batch.
    """
    if not isinstance(text, str) and not kwargs.get("is_split_into_words"):
        raise TypeError(
            f"encode_plus() takes a text, or a list of words with is_split_into_words=True; got a "
            f"{type(text).__name__}"
        )
    return tokenizer(text, *args, **kwargs)


def encode_batch(tokenizer: Any, batch_text_or_text_pairs: Any, *args: Any, **kwargs: Any) -> Any:
    """Encode a batch of texts, or of pairs of texts."""
    texts = list(batch_text_or_text_pairs)
    if texts and all(isinstance(pair, tuple) and len(pair) == 2 for pair in texts):
        first, second = (list(side) for side in zip(*texts, strict=True))
        return tokenizer(first, second, *args, **kwargs)
    return tokenizer(texts, *args, **kwargs)


def decode_each(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Decode the ids of one sequence one by one, as `batch_decode` did, for older scripts."""
    ids = call.arguments.get("sequences")
    if ids is None or called_by_library() or not _is_one_sequence(ids):
        return proceed()
    old = "batch_decode() of one sequence, id by id,"
    if call.is_of_older_script(row):
        call.arguments["sequences"] = [[part] for part in ids]
        call.fix(row, old, "write [tokenizer.decode(id) for id in ids]")
    elif call.written_for is None:
        call.tell(row, old, f"{old} {since(row)}; it gives one text for all")
    return proceed()


def _is_one_sequence(ids: Any) -> bool:
    if hasattr(ids, "ndim"):
        return bool(ids.ndim == 1)
    return isinstance(ids, list | tuple) and bool(ids) and isinstance(ids[0], int)


@contextmanager
def as_target(tokenizer: Any) -> Iterator[None]:
    """Tokenize labels inside the context, as `text_target=` does."""
    _switch(tokenizer, "_switch_to_target_mode")
    tokenizer._in_target_context_manager = True
    try:
        yield
    finally:
        tokenizer._in_target_context_manager = False
        _switch(tokenizer, "_switch_to_input_mode")


@contextmanager
def tokenizer_alone(processor: Any) -> Iterator[None]:
    """Let a processor hand its calls to its tokenizer inside the context."""
    cls = type(processor)
    handing = {
        "__call__": lambda self, *args, **kwargs: self.tokenizer(*args, **kwargs),
        "pad": lambda self, *args, **kwargs: self.tokenizer.pad(*args, **kwargs),
    }
    processor.__class__ = type(cls.__name__, (cls,), handing)
    try:
        yield
    finally:
        processor.__class__ = cls


def with_special_tokens(
    tokenizer: Any, ids: Sequence[int], others: Sequence[int] | None = None
) -> list[int]:
    """Put the special tokens of a tokenizer around the ids of a text, or of two."""
    if type(tokenizer).__name__ == "TokenizersBackend":
        # A tokenizer without a model's own class added none.
        return [*ids, *(others or ())]
    if others is None:
        before, after = _around(tokenizer, None)
        return [*before, *ids, *after]
    before, between, after = _around(tokenizer, _PROBES[0])
    return [*before, *ids, *between, *others, *after]


def prepare_for_model(
    tokenizer: Any,
    ids: Sequence[int],
    pair_ids: Sequence[int] | None = None,
    add_special_tokens: bool = True,
    padding: Any = False,
    truncation: Any = None,
    max_length: int | None = None,
    pad_to_multiple_of: int | None = None,
    return_tensors: Any = None,
    return_attention_mask: bool | None = None,
    prepend_batch_axis: bool = False,
    **others: Any,
) -> Any:
    """Truncate ids, put special tokens around them, and pad them.

    Raises:
        NotImplementedError: a pair is to be truncated, or parts that overlap are asked for.
    """
    if others.get("stride") or others.get("return_overflowing_tokens"):
        raise NotImplementedError(
            "prepare_for_model of patchkit returns no overflowing tokens; give the text to the "
            "tokenizer"
        )
    ids, pair = list(ids), None if pair_ids is None else list(pair_ids)
    added = tokenizer.num_special_tokens_to_add(pair is not None) if add_special_tokens else 0
    excess = len(ids) + len(pair or ()) + added - (max_length or tokenizer.model_max_length)
    if truncation and truncation != "do_not_truncate" and excess > 0:
        if pair is not None:
            raise NotImplementedError(
                "prepare_for_model of patchkit truncates no pairs; give the texts to the tokenizer"
            )
        at_right = tokenizer.truncation_side == "right"
        ids = ids[: len(ids) - excess] if at_right else ids[excess:]
    built = (
        with_special_tokens(tokenizer, ids, pair) if add_special_tokens else [*ids, *(pair or ())]
    )
    rows: Any = [built] if prepend_batch_axis or return_tensors is not None else built
    padded = tokenizer.pad(
        {"input_ids": rows},
        padding=padding,
        max_length=max_length,
        pad_to_multiple_of=pad_to_multiple_of,
        return_attention_mask=return_attention_mask,
        return_tensors=return_tensors,
    )
    if return_tensors is not None and not prepend_batch_axis:
        return type(padded)({name: values[0] for name, values in padded.items()})
    return padded


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
