"""Methods of tokenizers before Transformers 5, for those of today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

_A_TOKEN = "a"
"""A text that every tokenizer has tokens for."""


def encode_plus(
    tokenizer: Any, text: Any, text_pair: Any = None, *args: Any, **keywords: Any
) -> Any:
    """Return the tokens of a text, of a list of tokens, or of a list of ids."""
    if _are_all(int, text):
        return prepare_for_model(tokenizer, text, text_pair, *args, **keywords)
    if _are_all(str, text) and not keywords.get("is_split_into_words"):
        ids, pair = (_ids(tokenizer, tokens) for tokens in (text, text_pair))
        return prepare_for_model(tokenizer, ids or [], pair, *args, **keywords)
    return tokenizer(text, text_pair, **_by_name(args, keywords))


def batch_encode_plus(
    tokenizer: Any, batch_text_or_text_pairs: Any, *args: Any, **keywords: Any
) -> Any:
    """Return the tokens of many texts, or of many pairs of texts."""
    keywords = _by_name(args, keywords)
    texts = list(batch_text_or_text_pairs)
    if texts and isinstance(texts[0], tuple) and not keywords.get("is_split_into_words"):
        first, second = zip(*texts, strict=True)
        return tokenizer(list(first), list(second), **keywords)
    return tokenizer(texts, **keywords)


def build_inputs_with_special_tokens(
    tokenizer: Any, token_ids_0: Sequence[int], token_ids_1: Sequence[int] | None = None
) -> list[int]:
    """Put special tokens around the ids of a text, or of two."""
    if type(tokenizer).__name__ in ("PreTrainedTokenizerFast", "TokenizersBackend"):
        # Those of no particular model added none.
        return [*token_ids_0, *(token_ids_1 or ())]
    ids = tokenizer(_A_TOKEN, add_special_tokens=False)["input_ids"]
    pair = None if token_ids_1 is None else _A_TOKEN
    around = _without(tokenizer(_A_TOKEN, pair)["input_ids"], ids, 1 if pair is None else 2)
    texts = [token_ids_0] if token_ids_1 is None else [token_ids_0, token_ids_1]
    built = list(around[0])
    for text, after in zip(texts, around[1:], strict=True):
        built += [*text, *after]
    return built


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
        build_inputs_with_special_tokens(tokenizer, ids, pair)
        if add_special_tokens
        else [*ids, *(pair or ())]
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


@contextmanager
def as_target_tokenizer(tokenizer: Any) -> Iterator[None]:
    """Make tokens of targets, in the languages that a tokenizer translates into."""
    switches = "_switch_to_target_mode", "_switch_to_input_mode"
    there, back = (getattr(tokenizer, name, None) for name in switches)
    if there is not None:
        there()
    try:
        yield
    finally:
        if back is not None:
            back()


def padding(pads: Any, call: Any) -> dict[str, Any]:
    """Return what `pad_to_max_length` meant."""
    if not pads or call.arguments.get("padding", False) is not False:
        return {}
    given = {**call.arguments, **call.unknown}
    return {"padding": "longest" if given.get("max_length") is None else "max_length"}


def truncation(strategy: Any, call: Any) -> dict[str, Any]:
    """Return what `truncation_strategy` meant."""
    given = call.arguments.get("truncation")
    return {} if given is not None else {"truncation": strategy}


def method(function: Any) -> Any:
    """Return what reads a function as a method of a tokenizer."""
    return partial(partial, function)


def _by_name(args: Sequence[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the first arguments after the texts, given by position, by their names."""
    names = ("add_special_tokens", "padding", "truncation", "max_length", "stride")
    return {**dict(zip(names, args, strict=False)), **keywords}


def _are_all(kind: type, values: Any) -> bool:
    return isinstance(values, list | tuple) and bool(values) and isinstance(values[0], kind)


def _ids(tokenizer: Any, tokens: Sequence[str] | None) -> list[int] | None:
    return None if tokens is None else list(tokenizer.convert_tokens_to_ids(list(tokens)))


def _without(ids: list[int], part: list[int], times: int) -> list[list[int]]:
    """Return what stands before, between and after a part that is in a list so many times."""
    parts: list[list[int]] = []
    start = 0
    for _ in range(times):
        place = next(at for at in range(start, len(ids)) if ids[at : at + len(part)] == part)
        parts.append(ids[start:place])
        start = place + len(part)
    return [*parts, ids[start:]]
