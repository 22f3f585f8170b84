"""Methods and attributes that tokenizers, models and trainers had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any

from ..changes import Attribute, Change
from ..converting.tokenizing import as_target, encode_batch, encode_one, with_special_tokens
from .many import WorkedOut, always, renamed, worked_out

_TOKENIZER = ("transformers.PreTrainedTokenizerBase",)
_MODEL = ("transformers.PreTrainedModel",)
_TRAINER = ("transformers.Trainer",)
_ACCELERATOR = ("accelerate.Accelerator",)
_V5 = "transformers 5.0.0"


def _warnings(model: Any) -> dict[str, bool]:
    issued: dict[str, bool] = vars(model).setdefault("warnings_issued", {})
    return issued


def _itself(model: Any) -> Callable[[], Any]:
    return lambda: model


def _is_fp16(accelerator: Any) -> bool:
    return bool(accelerator.mixed_precision == "fp16")


_WORKED_OUT: tuple[WorkedOut, ...] = (
    (
        _TOKENIZER,
        "encode_plus",
        partial(partial, encode_one),
        "call the tokenizer itself",
        "{object}",
        _V5,
    ),
    (
        _TOKENIZER,
        "batch_encode_plus",
        partial(partial, encode_batch),
        "call the tokenizer itself, with lists of texts",
        "",
        _V5,
    ),
    (
        _TOKENIZER,
        "as_target_tokenizer",
        partial(partial, as_target),
        "write tokenizer(text_target=…)",
        "",
        _V5,
    ),
    (
        _TOKENIZER,
        "build_inputs_with_special_tokens",
        partial(partial, with_special_tokens),
        "let the tokenizer add them: tokenizer(text)",
        "",
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
    (_MODEL, "framework", always("pt"), "it is 'pt'", '"pt"', _V5),
    (_TRAINER, "use_apex", always(False), "it is False", "False", _V5),
    (_TRAINER, "use_cpu_amp", always(False), "it is False", "False", _V5),
    (_TRAINER, "do_grad_scaling", always(False), "it is False", "False", _V5),
    (_TRAINER, "sharded_ddp", always(None), "it is None", "None", _V5),
    (
        _ACCELERATOR,
        "use_fp16",
        _is_fp16,
        'write mixed_precision == "fp16"',
        '({object}.mixed_precision == "fp16")',
        "accelerate 1.0.0",
    ),
)

_SPECIAL = tuple(f"{what}_token" for what in ("bos", "cls", "eos", "mask", "pad", "sep", "unk"))
_RENAMED = {
    "additional_special_tokens": "extra_special_tokens",
    "additional_special_tokens_ids": "extra_special_tokens_ids",
    # Attributes that are not public, which scripts read all the same.
    **{f"_{name}": name for name in _SPECIAL},
}
"""Attributes of tokenizers by other names."""

_MEMBERS = (
    ("accelerate.DistributedType", "TPU", "XLA", "accelerate 0.28.0"),
    ("transformers.OptimizerNames", "ADAMW_HF", "ADAMW_TORCH", "transformers 4.50.0"),
)
"""Members of enumerations: the old one, the one of today, and since when."""

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


def _rows() -> Iterator[Change]:
    yield from worked_out(_WORKED_OUT)
    yield from (renamed(_TOKENIZER, name, to, _V5) for name, to in _RENAMED.items())
    for owner, name, to, gone in _MEMBERS:
        yield Attribute(
            owners=(owner,),
            name=name,
            read=attrgetter(to),
            advice=f"write {owner.rpartition('.')[2]}.{to}",
            written=f"{{object}}.{to}",
            of_class=True,
            gone=gone,
        )
    for owners, name, instead in _REFUSED:
        yield Attribute(owners=owners, name=name, read=None, advice=instead, gone=_V5)


ROWS: tuple[Change, ...] = tuple(_rows())
