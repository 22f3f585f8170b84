"""Configurations of models: what they had, and how their embeddings are made larger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..changes import Assigned, Attribute, Change, Default
from .many import always

_CONFIG = ("transformers.PreTrainedConfig",)
_V5 = "transformers 5.0.0"
_OF_POSITIONS = ("rope_theta", "partial_rotary_factor")

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


def _base_of_positions(config: Any) -> Any:
    return (config.rope_parameters or {}).get("rope_theta", 10000.0)


def _with_base(config: Any, scaling: Any) -> dict[str, Any]:
    """Return what positions are made of: a scaling, or none, and the base that is there."""
    present = config.rope_parameters or {}
    base = {name: present[name] for name in _OF_POSITIONS if name in present}
    return {**base, **(scaling or {"rope_type": "default"})}


def _rows() -> Iterator[Change]:
    yield Default(
        owners=("transformers.PreTrainedModel.resize_token_embeddings",),
        name="mean_resizing",
        values=(("4.36.0", False), ("4.46.0", True)),
        gone="transformers 4.46.0",
    )
    yield Assigned(
        owners=_CONFIG,
        name="rope_scaling",
        convert=_with_base,
        advice="write rope_parameters, with rope_theta",
        gone=_V5,
    )
    yield Attribute(
        owners=_CONFIG,
        name="rope_theta",
        read=_base_of_positions,
        advice='write rope_parameters["rope_theta"]',
        written='{object}.rope_parameters["rope_theta"]',
        gone=_V5,
    )
    for name, value in _UNSET.items():
        yield Attribute(
            owners=_CONFIG,
            name=name,
            read=always(value),
            advice=f"it is {value!r} where nothing sets it: write getattr(config, {name!r}, …)",
            gone=_V5,
        )


ROWS: tuple[Change, ...] = tuple(_rows())
