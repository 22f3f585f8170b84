"""Methods and attributes that tokenizers, models, trainers and columns of datasets had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from operator import attrgetter
from typing import Any

from ..changes import Assigned, Attribute, Change
from .sources import notes

_TOKENIZER = ("transformers.PreTrainedTokenizerBase",)
_MODEL = ("transformers.PreTrainedModel",)
_CONFIG = ("transformers.PreTrainedConfig",)
_TRAINER = ("transformers.Trainer",)
_ACCELERATOR = ("accelerate.Accelerator",)
_V5 = "transformers 5.0.0"


def _encode_one(tokenizer: Any) -> Callable[..., Any]:
    from ..tokenizing import encode_one

    return partial(encode_one, tokenizer)


def _encode_batch(tokenizer: Any) -> Callable[..., Any]:
    from ..tokenizing import encode_batch

    return partial(encode_batch, tokenizer)


def _as_target(tokenizer: Any) -> Callable[[], AbstractContextManager[None]]:
    from ..tokenizing import as_target

    return partial(as_target, tokenizer)


def _with_special_tokens(tokenizer: Any) -> Callable[..., list[int]]:
    from ..tokenizing import with_special_tokens

    return partial(with_special_tokens, tokenizer)


def _warnings(model: Any) -> dict[str, bool]:
    issued: dict[str, bool] = vars(model).setdefault("warnings_issued", {})
    return issued


def _itself(model: Any) -> Callable[[], Any]:
    return lambda: model


def _always(value: Any, instance: Any) -> Any:
    return value


def _base_of_positions(config: Any) -> Any:
    return (config.rope_parameters or {}).get("rope_theta", 10000.0)


def _is_fp16(accelerator: Any) -> bool:
    return bool(accelerator.mixed_precision == "fp16")


_WORKED_OUT: tuple[tuple[tuple[str, ...], str, Callable[[Any], Any], str, str, str], ...] = (
    (_TOKENIZER, "encode_plus", _encode_one, "call the tokenizer itself", "{object}", _V5),
    (_TOKENIZER, "batch_encode_plus", _encode_batch, "call the tokenizer itself", "{object}", _V5),
    (
        _TOKENIZER,
        "as_target_tokenizer",
        _as_target,
        "write tokenizer(text_target=…)",
        "",
        _V5,
    ),
    (
        _TOKENIZER,
        "build_inputs_with_special_tokens",
        _with_special_tokens,
        "let the tokenizer add them: tokenizer(text)",
        "",
        _V5,
    ),
    (
        _TOKENIZER,
        "additional_special_tokens",
        attrgetter("extra_special_tokens"),
        "write extra_special_tokens",
        "{object}.extra_special_tokens",
        _V5,
    ),
    (
        _TOKENIZER,
        "additional_special_tokens_ids",
        attrgetter("extra_special_tokens_ids"),
        "write extra_special_tokens_ids",
        "{object}.extra_special_tokens_ids",
        _V5,
    ),
    (_MODEL, "warnings_issued", _warnings, "leave it out: nothing reads it", "", _V5),
    (
        _MODEL,
        "to_bettertransformer",
        _itself,
        "leave it out: PyTorch's attention is the default",
        "",
        "transformers 4.49.0",
    ),
    (
        _MODEL,
        "reverse_bettertransformer",
        _itself,
        "leave it out: PyTorch's attention is the default",
        "",
        "transformers 4.49.0",
    ),
    (_MODEL, "framework", partial(_always, "pt"), "it is 'pt'", '"pt"', _V5),
    (
        _CONFIG,
        "rope_theta",
        _base_of_positions,
        'write rope_parameters["rope_theta"]',
        '{object}.rope_parameters["rope_theta"]',
        _V5,
    ),
    (_TRAINER, "use_apex", partial(_always, False), "it is False", "False", _V5),
    (_TRAINER, "use_cpu_amp", partial(_always, False), "it is False", "False", _V5),
    (_TRAINER, "do_grad_scaling", partial(_always, False), "it is False", "False", _V5),
    (_TRAINER, "sharded_ddp", partial(_always, None), "it is None", "None", _V5),
    (
        _ACCELERATOR,
        "use_fp16",
        _is_fp16,
        'write mixed_precision == "fp16"',
        '({object}.mixed_precision == "fp16")',
        "accelerate 1.0.0",
    ),
)

_MEMBERS = (
    ("accelerate.DistributedType", "TPU", "XLA", "accelerate 0.28.0"),
    ("transformers.OptimizerNames", "ADAMW_HF", "ADAMW_TORCH", "transformers 4.50.0"),
)
"""Members of enumerations: the old one, the one of today, and since when."""

_UNSET: dict[str, Any] = {
    "add_cross_attention": False,
    "bad_words_ids": None,
    "begin_suppress_tokens": None,
    "bos_token_id": None,
    "cross_attention_hidden_size": None,
    "decoder_start_token_id": None,
    "diversity_penalty": 0.0,
    "do_sample": False,
    "early_stopping": False,
    "encoder_no_repeat_ngram_size": 0,
    "eos_token_id": None,
    "exponential_decay_length_penalty": None,
    "finetuning_task": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "is_decoder": False,
    "length_penalty": 1.0,
    "max_length": 20,
    "min_length": 0,
    "no_repeat_ngram_size": 0,
    "num_beam_groups": 1,
    "num_beams": 1,
    "num_return_sequences": 1,
    "output_scores": False,
    "pad_token_id": None,
    "prefix": None,
    "remove_invalid_values": False,
    "repetition_penalty": 1.0,
    "return_dict_in_generate": False,
    "sep_token_id": None,
    "suppress_tokens": None,
    "task_specific_params": None,
    "temperature": 1.0,
    "tie_encoder_decoder": False,
    "tokenizer_class": None,
    "top_k": 50,
    "top_p": 1.0,
    "torchscript": False,
    "typical_p": 1.0,
}
"""What each configuration of a model had, and what it was where nobody had set it."""

_OF_POSITIONS = ("rope_theta", "partial_rotary_factor")
_REFUSED = (
    (_MODEL, "parallelize", 'Load the model in parts: from_pretrained(…, device_map="auto").'),
    (_MODEL, "deparallelize", "Load the model without device_map=."),
    (_MODEL, "prune_heads", "Nothing in Transformers takes its place."),
    *(
        (_MODEL, name, "generate(…) does it.")
        for name in (
            "assisted_decoding",
            "beam_sample",
            "beam_search",
            "constrained_beam_search",
            "contrastive_search",
            "greedy_search",
            "group_beam_search",
            "sample",
        )
    ),
    *(
        (_TOKENIZER, name, "Call the tokenizer with the texts, which it cuts and pads.")
        for name in ("prepare_seq2seq_batch", "truncate_sequences")
    ),
)
"""Methods that have no counterpart."""


def _with_base(config: Any, scaling: Any) -> dict[str, Any]:
    """Return what positions are made of: a scaling, or none, and the base that is there."""
    present = config.rope_parameters or {}
    base = {name: present[name] for name in _OF_POSITIONS if name in present}
    return {**base, **(scaling or {"rope_type": "default"})}


def _rows() -> Iterator[Change]:
    yield Assigned(
        owners=_CONFIG,
        name="rope_scaling",
        todays=_with_base,
        advice="write rope_parameters, with rope_theta",
        gone=_V5,
        source=notes(_V5),
    )
    for owners, name, read, advice, written, gone in _WORKED_OUT:
        yield Attribute(
            owners=owners,
            name=name,
            read=read,
            advice=advice,
            written=written,
            gone=gone,
            source=notes(gone),
        )
    for owner, name, to, gone in _MEMBERS:
        yield Attribute(
            owners=(owner,),
            name=name,
            read=attrgetter(to),
            advice=f"write {owner.rpartition('.')[2]}.{to}",
            written=f"{{object}}.{to}",
            of_class=True,
            gone=gone,
            source=notes(gone),
        )
    for name, value in _UNSET.items():
        yield Attribute(
            owners=_CONFIG,
            name=name,
            read=partial(_always, value),
            advice=f"it is {value!r} where nothing sets it: write getattr(config, {name!r}, …)",
            gone=_V5,
            source=notes(_V5),
        )
    for owners, name, instead in _REFUSED:
        yield Attribute(
            owners=owners, name=name, read=None, advice=instead, gone=_V5, source=notes(_V5)
        )


ROWS: tuple[Change, ...] = tuple(_rows())
