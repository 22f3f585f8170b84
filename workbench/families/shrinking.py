"""Make tiny configurations of any model type, by the names that configurations share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .odd_types import ODD_TYPES
from .sizes import SIZES

# What a shape may have to be changed in until a model type accepts it, likeliest first.
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "max_window_layers")
_KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "swa_num_key_value_heads", "n_groups")
_VARIANTS: tuple[dict[str, int], ...] = (
    {},
    dict.fromkeys(_KEY_HEADS, 4),
    dict.fromkeys(_LAYERS, 4),
    dict.fromkeys(_LAYERS, 8),
)
_IF_MISSING = {"head_dim": 16, "num_key_value_heads": 2}
"""Attributes that some types read although their default is None, or that they lack."""
_IF_NONE = frozenset(
    {
        "vocab_size",
        "head_dim",
        "num_key_value_heads",
        "num_experts",
        "n_routed_experts",
        "n_shared_experts",
        "num_experts_per_tok",
        "top_k_experts",
        "moe_intermediate_size",
        "indexer_n_heads",
        "indexer_kv_heads",
        "indexer_head_dim",
        "indexer_budget",
        "indexer_compress_ratio",
    }
)
"""Attributes that some types read although their default is None, in parts as well."""
_MOST_KINDS = 4
USUAL_SPREAD = 0.02
_LEAST_SPREAD = 1e-3
"""Weights of a smaller spread, such as some defaults' 1e-10, are zeros in float16."""
_PADDED_WITH_ZERO = frozenset({"prophetnet"})
"""Types that count positions from the token of padding, and generate with 0 only."""


def attempts(cls: type[Any], **fixed: Any) -> Iterator[Any]:
    """Yield tiny configurations of a class; the first that makes a model is the best.

    Args:
        cls: a configuration's class.
        fixed: attributes that each has.

    Raises:
        Exception: whatever the class raises, if it makes no configuration at all.
    """
    fixed = {**ODD_TYPES.get(cls.model_type, {}), **fixed}
    error: Exception | None = None
    made = False
    for variant in _VARIANTS:
        for build in (_with_each_kind, _by_arguments, _filled_in, _by_attributes):
            try:
                config = build(cls, {**SIZES, **variant}, fixed)
            except Exception as reason:
                error = error or reason
                continue
            made = True
            yield _with_small_tokens(config)
    if not made and error is not None:
        raise error


def _with_each_kind(cls: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Construct a configuration with one layer of each kind that the default has."""
    return cls(**_joined(_arguments(_default(cls, fixed), sizes, kinds=True), fixed))


def _by_arguments(cls: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Construct a configuration with small sizes, and let it compute the others from them."""
    return cls(**_joined(_arguments(_default(cls, fixed), sizes), fixed))


def _filled_in(cls: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Construct a configuration with the sizes that it should compute, but does not."""
    arguments = _arguments(_default(cls, fixed), sizes, kinds=True, fill=True)
    return cls(**_joined({**_IF_MISSING, **arguments}, fixed))


def _by_attributes(cls: type[Any], sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> Any:
    """Change the sizes of a default configuration after its construction."""
    config = _default(cls, fixed)
    for owner in _with_parts(config):
        for name, value in list(vars(owner).items()):
            if name in sizes and _is_number(value):
                setattr(owner, name, sizes[name])
            elif isinstance(value, list) and "layer" in name:
                setattr(owner, name, value[: sizes["num_hidden_layers"]])
    for name, value in fixed.items():
        if not _is_config(getattr(config, name, None)):
            setattr(config, name, value)
    return config


def _default(cls: type[Any], fixed: Mapping[str, Any]) -> Any:
    """Return a configuration with default sizes and the parts that are asked for."""
    parts = {name: value for name, value in fixed.items() if isinstance(value, dict)}
    try:
        return cls(**parts)
    except Exception:  # parts that do not fit the default sizes
        return cls()


def _joined(arguments: dict[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with others in place of some, those of parts included."""
    joined = dict(arguments)
    for name, value in fixed.items():
        before = joined.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _joined(before, value)
        joined[name] = value
    return joined


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
            own = {"model_type": value.model_type, **ODD_TYPES.get(value.model_type, {})}
            arguments[name] = _joined(parts, own)
        elif name in sizes and (_is_number(value) or (fill and value is None and name in _IF_NONE)):
            arguments[name] = sizes[name]
        elif _is_token(name, value):
            arguments[name] = 1
        elif name == "initializer_range" and value < _LEAST_SPREAD:
            arguments[name] = USUAL_SPREAD
        elif fill and name == "rope_parameters" and isinstance(value, dict):
            arguments[name] = {**value, "mrope_section": _rotary_sections(value)}
    if {"head_dim", "qk_rope_head_dim"} <= set(arguments) and config.qk_rope_head_dim:
        # Rotary embeddings have the size of a head, or of its rotated part.
        ratio = config.head_dim // config.qk_rope_head_dim
        arguments["head_dim"] = arguments["qk_rope_head_dim"] * max(ratio, 1)
    if {"window_size", "patch_size"} <= set(arguments):  # windows of images count pixels
        arguments["window_size"] = 4 * arguments["patch_size"]
    if kinds:
        arguments.update(_layers_of_each_kind(config))
    for name, value in vars(config).items():
        if name in sizes and _are_numbers(value):
            length = arguments.get("num_hidden_layers", len(value))
            arguments[name] = [sizes[name]] * min(len(value), length)
    return arguments


def _rotary_sections(parameters: Mapping[str, Any]) -> list[int]:
    """Return what a rotary embedding of images takes for time, height and width."""
    half = int(_IF_MISSING["head_dim"] * parameters.get("partial_rotary_factor", 1)) // 2
    side = half * 3 // 8
    return [half - 2 * side, side, side]


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
                if name == "pad_token_id" and owner.model_type in _PADDED_WITH_ZERO:
                    setattr(owner, name, 0)
                    continue
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
