"""Make tiny configurations of any model type, by the names that configurations share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

VOCABULARY = 160
FIRST_WORD = 48
"""Tokens below this one have meanings: padding, the place of an image, and others."""

_SIZES: dict[str, Any] = {
    **dict.fromkeys(
        (
            "hidden_size",
            "d_model",
            "n_embd",
            "dim",
            "emb_dim",
            "embed_dim",
            "embedding_size",
            "word_embed_proj_dim",
            "out_hidden_size",
            "output_hidden_size",
            "hidden_size_global",
            "encoder_hidden_size",
            "text_hidden_size",
            "cross_attention_hidden_size",
            "attention_hidden_size",
            "projection_dim",
            "projector_hidden_size",
            "output_dim",
            "lru_width",
            "vision_output_dim",
            "projector_input_dim",
            "projector_output_dim",
            "backbone_hidden_size",
            "index_head_dim",
            "q_lora_rank",
            "kv_lora_rank",
            "o_lora_rank",
            "time_step_rank",
            "mamba_dt_rank",
            "laurel_rank",
            "hidden_size_per_layer_input",
            "adapter_out_dim",
            "adapter_in_dim",
            "dim_model_base",
            "mm_hidden_size",
        ),
        64,
    ),
    **dict.fromkeys(
        (
            "intermediate_size",
            "intermediate_size_mlp",
            "dense_intermediate_size",
            "moe_intermediate_size",
            "shared_expert_intermediate_size",
            "shared_experts_intermediate_size",
            "moe_shared_expert_intermediate_size",
            "shared_intermediate_size",
            "encoder_ffn_dim",
            "decoder_ffn_dim",
            "expert_ffn_hidden_size",
            "ffn_hidden_size",
            "ffn_dim",
            "d_ff",
            "dff",
            "dim_ff",
            "d_inner",
            "mlp_dim",
            "n_inner",
            "hidden_dim",
        ),
        128,
    ),
    **dict.fromkeys(
        (
            "num_hidden_layers",
            "num_layers",
            "n_layer",
            "n_layers",
            "encoder_layers",
            "decoder_layers",
            "num_decoder_layers",
            "num_encoder_layers",
            "depth",
            "max_window_layers",
            "num_global_layers",
            "conf_num_hidden_layers",
            "num_blocks",
        ),
        2,
    ),
    **dict.fromkeys(
        (
            "num_attention_heads",
            "num_heads",
            "n_head",
            "n_heads",
            "attention_heads",
            "encoder_attention_heads",
            "decoder_attention_heads",
            "num_encoder_attention_heads",
            "num_decoder_attention_heads",
            "swa_num_attention_heads",
            "index_n_heads",
            "conf_num_attention_heads",
            "linear_num_heads",
        ),
        4,
    ),
    **dict.fromkeys(
        (
            "num_key_value_heads",
            "num_kv_heads",
            "swa_num_key_value_heads",
            "num_global_key_value_heads",
            "n_groups",
            "mamba_n_groups",
        ),
        2,
    ),
    **dict.fromkeys(
        (
            "head_dim",
            "swa_head_dim",
            "global_head_dim",
            "d_kv",
            "d_head",
            "dim_head",
            "kv_channels",
            "linear_key_head_dim",
            "linear_value_head_dim",
            "linear_head_dim",
            "query_pre_attn_scalar",
            "state_size",
            "ssm_state_size",
            "mamba_d_state",
            "mamba_d_head",
            "mamba_head_dim",
            "d_rel",
            "rel_extent",
        ),
        16,
    ),
    **dict.fromkeys(("v_head_dim", "qk_nope_head_dim", "qk_rope_head_dim"), 32),
    **dict.fromkeys(
        (
            "num_experts",
            "n_routed_experts",
            "num_local_experts",
            "moe_num_experts",
            "num_routed_experts",
        ),
        32,
    ),
    **dict.fromkeys(
        (
            "num_experts_per_tok",
            "num_experts_per_token",
            "num_selected_experts",
            "moe_topk",
            "moe_k",
            "num_key_heads",
        ),
        2,
    ),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts", "first_k_dense_replace"), 1),
    **dict.fromkeys(("linear_num_key_heads",), 2),
    **dict.fromkeys(("linear_num_value_heads",), 4),
    **dict.fromkeys(("mamba_n_heads", "mamba_num_heads"), 8),
    **dict.fromkeys(
        (
            "max_position_embeddings",
            "n_positions",
            "n_ctx",
            "max_seq_len",
            "max_sequence_length",
            "model_max_length",
            "original_max_position_embeddings",
            "max_source_positions",
            "max_target_positions",
            "max_encoder_position_embeddings",
            "max_decoder_position_embeddings",
        ),
        256,
    ),
    **dict.fromkeys(
        (
            "vocab_size",
            "decoder_vocab_size",
            "src_vocab_size",
            "tgt_vocab_size",
            "unpadded_vocab_size",
            "vocab_size_per_layer_input",
            "text_vocab_size",
        ),
        VOCABULARY,
    ),
    **dict.fromkeys(("sliding_window", "sliding_window_size", "window_size", "local_attention"), 8),
    **dict.fromkeys(("chunk_size", "mamba_chunk_size", "attention_chunk_size", "block_size"), 8),
    **dict.fromkeys(("rotary_dim", "index_topk"), 8),
    **dict.fromkeys(
        (
            "full_attention_interval",
            "attn_layer_period",
            "expert_layer_period",
            "sliding_window_pattern",
            "_sliding_window_pattern",
            "encoder_sparse_step",
            "decoder_sparse_step",
        ),
        2,
    ),
    **dict.fromkeys(("attn_layer_offset", "expert_layer_offset"), 1),
    **dict.fromkeys(("num_kv_shared_layers", "num_nextn_predict_layers"), 0),
    "num_mem_blocks": 1,
    "num_hash_layers": 0,
    "image_size": 32,
    "patch_size": 8,
    "num_position_embeddings": 16,
    "num_query_tokens": 4,
    "num_mel_bins": 16,
    "ngram_vocab_size_base": 64,
    "ple_embed_dim": 64,
    "num_local_heads": 4,
}
# What a shape may have to be changed in until a model type accepts it, likeliest first.
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "max_window_layers")
_KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "swa_num_key_value_heads", "n_groups")
_VARIANTS: tuple[dict[str, int], ...] = (
    {},
    dict.fromkeys(_KEY_HEADS, 4),
    dict.fromkeys(_LAYERS, 4),
    dict.fromkeys(_LAYERS, 8),
)
_ROTARY_SECTIONS = (2, 3, 3)
"""What a rotary embedding of images takes for time, height and width: half a head of 16."""
_IF_MISSING = {"head_dim": 16, "num_key_value_heads": 2}
"""Attributes that some types read although their default is None."""
_MOST_KINDS = 4
# What only one model type needs.
_OVERRIDES: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1]},
    "falcon_h1": {"mamba_d_ssm": 128},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "mamba2": {"num_heads": 8},
    "reformer": {"is_decoder": True, "axial_pos_embds": False},
    "xmod": {"default_language": "en_XX"},
}


def attempts(kind: type[Any], **fixed: Any) -> Iterator[Any]:
    """Yield tiny configurations of a class; the first that makes a model is the best.

    Args:
        kind: a configuration's class.
        fixed: attributes that each has.

    Raises:
        Exception: whatever the class raises, if it makes no configuration at all.
    """
    fixed = {**_OVERRIDES.get(kind.model_type, {}), **fixed}
    error: Exception | None = None
    made = False
    for variant in _VARIANTS:
        for build in (_with_each_kind, _by_arguments, _filled_in, _by_attributes):
            try:
                config = build(kind, {**_SIZES, **variant}, fixed)
            except Exception as reason:
                error = error or reason
                continue
            made = True
            yield _with_small_tokens(config)
    if not made and error is not None:
        raise error


def _with_each_kind(kind: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Construct it with one layer of each kind that the default has."""
    return kind(**{**_arguments(kind(), sizes, kinds=True), **fixed})


def _by_arguments(kind: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Construct it with small sizes, so that what follows from them is computed from them."""
    return kind(**{**_arguments(kind(), sizes), **fixed})


def _filled_in(kind: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Construct it with what it should compute from the other sizes, but does not."""
    return kind(**{**_IF_MISSING, **_arguments(kind(), sizes, kinds=True, fill=True), **fixed})


def _by_attributes(kind: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Change the sizes of a default one, which asks nothing of its constructor."""
    config = kind()
    for owner in _with_parts(config):
        for name, value in list(vars(owner).items()):
            if name in sizes and _is_number(value):
                setattr(owner, name, sizes[name])
            elif isinstance(value, list) and "layer" in name:
                setattr(owner, name, value[: sizes["num_hidden_layers"]])
    for name, value in fixed.items():
        setattr(config, name, value)
    return config


def _arguments(
    config: Any, sizes: Mapping[str, Any], *, kinds: bool = False, fill: bool = False
) -> dict[str, Any]:
    """Return the arguments that make a configuration small, those of its parts included.

    Args:
        config: the default one.
        sizes: small values, by name.
        kinds: whether to give it one layer of each kind.
        fill: whether to add what some types read although the default lacks it.
    """
    arguments: dict[str, Any] = {}
    for name, value in vars(config).items():
        if _is_config(value):
            parts = _arguments(value, sizes, kinds=kinds, fill=fill)
            arguments[name] = {"model_type": value.model_type, **parts}
        elif name in sizes and _is_number(value):
            arguments[name] = sizes[name]
        elif _is_token(name, value):
            arguments[name] = 1
        elif fill and name == "rope_parameters" and isinstance(value, dict):
            arguments[name] = {**value, "mrope_section": list(_ROTARY_SECTIONS)}
    if {"head_dim", "qk_rope_head_dim"} <= set(arguments):  # rotary embeddings have its size
        arguments["head_dim"] = arguments["qk_rope_head_dim"]
    if kinds:
        arguments.update(_layers_of_each_kind(config))
    for name, value in vars(config).items():
        if name in sizes and _are_numbers(value):
            length = arguments.get("num_hidden_layers", len(value))
            arguments[name] = [sizes[name]] * min(len(value), length)
    return arguments


def _layers_of_each_kind(config: Any) -> dict[str, Any]:
    """Return a number of layers, and lists by layer, that have each kind of layer once."""
    number = getattr(config, "num_hidden_layers", None)
    lists = {
        name: value
        for name, value in vars(config).items()
        if isinstance(value, (list, tuple)) and len(value) == number and len(value) > 2
    }
    kinds: dict[str, tuple[Any, ...]] = {}
    for row in zip(*lists.values(), strict=True):
        kinds.setdefault(repr(row), row)
    rows = list(kinds.values())[:_MOST_KINDS]
    if len(rows) < 2:
        return {}
    columns = zip(*rows, strict=True)
    return {
        "num_hidden_layers": len(rows),
        **{name: list(column) for name, column in zip(lists, columns, strict=True)},
    }


def _with_small_tokens(config: Any) -> Any:
    """Give the special tokens numbers within the vocabulary, each its own."""
    number = 0
    seen: dict[str, int] = {}
    for owner in _with_parts(config):
        for name, value in list(vars(owner).items()):
            if _is_token(name, value):
                if name not in seen:
                    number += 1
                    seen[name] = number
                setattr(owner, name, seen[name])
    return config


def _with_parts(config: Any) -> Iterator[Any]:
    yield config
    for value in list(vars(config).values()):
        if _is_config(value):
            yield from _with_parts(value)


def _is_config(value: object) -> bool:
    return hasattr(value, "to_diff_dict") and hasattr(value, "model_type")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_numbers(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_number, value))


def _is_token(name: str, value: object) -> bool:
    return name.endswith(("_token_id", "_token_index")) and (
        _is_number(value) or _are_numbers(value)
    )
