"""Methods and attributes that scripts use, and whose value today a function works out."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from ..changes import Assigned, Attribute, Change
from ..converting.device_maps import device_map
from ..converting.tokenizing import (
    as_target,
    encode_batch,
    encode_one,
    tokenizer_alone,
    with_special_tokens,
)

WorkedOut = tuple[tuple[str, ...], str, Callable[[Any], Any], str, str, str]
"""The classes, the old attribute, what reads it, the advice, its source today, and since when."""

_TOKENIZER = ("transformers.PreTrainedTokenizerBase",)
_MODEL = ("transformers.PreTrainedModel",)
_TRAINER = ("transformers.Trainer",)
_ACCELERATOR = ("accelerate.Accelerator",)
_ARGUMENTS = ("transformers.TrainingArguments",)
_CONFIG = ("transformers.PreTrainedConfig",)
_V5 = "transformers 5.0.0"
_DEFAULT_DTYPE = "float32"
_OF_POSITIONS = ("rope_theta", "partial_rotary_factor")


def _warnings(model: Any) -> dict[str, bool]:
    issued: dict[str, bool] = vars(model).setdefault("warnings_issued", {})
    return issued


def _itself(model: Any) -> Callable[[], Any]:
    return lambda: model


def _is_fp16(accelerator: Any) -> bool:
    return bool(accelerator.mixed_precision == "fp16")


def _share(args: Any) -> float:
    steps: float = args.warmup_steps
    return steps if 0 < steps < 1 else 0.0


def _by_length(args: Any) -> bool:
    return bool(args.train_sampling_strategy == "group_by_length")


def _logs(args: Any) -> str:
    return os.environ.get("TENSORBOARD_LOGGING_DIR") or os.path.join(args.output_dir, "runs")


def _gathering(trainer: Any) -> Callable[..., Any]:
    from transformers.trainer_pt_utils import nested_gather

    return partial(nested_gather, parallel_mode=trainer.args.parallel_mode)


def _prepare(tokenizer: Any) -> Callable[..., Any]:
    from ..converting.tokenizing import prepare_for_model

    return partial(prepare_for_model, tokenizer)


def _special_tokens(tokenizer: Any) -> dict[str, Any]:
    extra = tokenizer.extra_special_tokens
    more = {"additional_special_tokens": extra} if extra else {}
    return {**tokenizer.special_tokens_map, **more}


def _submodules(tuner: Any) -> Callable[[str], Any]:
    from peft.utils import _get_submodules

    return partial(_get_submodules, tuner.model)


def _longest_prompt(trainer: Any) -> Any:
    return getattr(trainer.args, "max_prompt_length", 512)


def _base_of_positions(config: Any) -> Any:
    return (getattr(config, "rope_parameters", None) or {}).get("rope_theta", 10000.0)


def _with_base(config: Any, scaling: Any) -> dict[str, Any]:
    """Return what positions are made of: a scaling, or none, and the base that is there."""
    present = getattr(config, "rope_parameters", None) or {}
    base = {name: present[name] for name in _OF_POSITIONS if name in present}
    return {**base, **(scaling or {"rope_type": "default"})}


def _scaling_alone(config: Any) -> Any:
    """Return what `rope_scaling` held: None without a scaling, and else its kind by both names."""
    present = dict(config.rope_parameters or {})
    if "rope_type" not in present:
        return present or None  # for each kind of layer
    if present["rope_type"] == "default":
        return None
    scaling = {name: value for name, value in present.items() if name not in _OF_POSITIONS}
    return {**scaling, "type": present["rope_type"]}


def _dtype(config: Any) -> Any:
    """Return the dtype of `ModelConfig`, whose default was None."""
    return None if config.dtype == _DEFAULT_DTYPE else config.dtype


_WORKED_OUT: tuple[WorkedOut, ...] = (
    (
        ("trl.ModelConfig",),
        "torch_dtype",
        _dtype,
        "write dtype, which is 'float32' where nothing sets it, and was None",
        "{object}.dtype",
        "trl 0.27.0",
    ),
    (
        _MODEL,
        "hf_device_map",
        device_map,
        "read the model's device: a model on one device has no map",
        "",
        _V5,
    ),
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
        ("transformers.ProcessorMixin",),
        "as_target_processor",
        partial(partial, tokenizer_alone),
        "write processor.tokenizer(…)",
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
    (
        _ACCELERATOR,
        "use_fp16",
        _is_fp16,
        'write mixed_precision == "fp16"',
        '({object}.mixed_precision == "fp16")',
        "accelerate 1.0.0",
    ),
    (
        _ARGUMENTS,
        "warmup_ratio",
        _share,
        "read warmup_steps",
        "({object}.warmup_steps if {object}.warmup_steps < 1 else 0.0)",
        "transformers 5.15.0",
    ),
    (
        _ARGUMENTS,
        "group_by_length",
        _by_length,
        "read train_sampling_strategy",
        '({object}.train_sampling_strategy == "group_by_length")',
        "transformers 5.2.0",
    ),
    (_ARGUMENTS, "logging_dir", _logs, "read TENSORBOARD_LOGGING_DIR", "", "transformers 5.15.0"),
    (
        _TRAINER,
        "_nested_gather",
        _gathering,
        "import nested_gather from transformers.trainer_pt_utils",
        "",
        "transformers 5.2.0",
    ),
    (
        ("peft.LoraModel",),
        "_get_submodules",
        _submodules,
        "write peft.utils._get_submodules(lora_model.model, name)",
        "",
        "peft 0.4.0",
    ),
    (
        ("trl.GRPOTrainer",),
        "max_prompt_length",
        _longest_prompt,
        "it is what the script said, or 512; leave it out",
        "",
        "trl 0.26.0",
    ),
    (_TOKENIZER, "prepare_for_model", _prepare, "give the text to the tokenizer", "", _V5),
    (
        _TOKENIZER,
        "special_tokens_map_extended",
        _special_tokens,
        "write special_tokens_map",
        "",
        _V5,
    ),
    (
        _CONFIG,
        "rope_theta",
        _base_of_positions,
        'write rope_parameters["rope_theta"]',
        '{object}.rope_parameters["rope_theta"]',
        _V5,
    ),
)

ROWS: tuple[Change, ...] = (
    *(
        Attribute(owners=owners, name=name, read=read, advice=advice, written=written, gone=gone)
        for owners, name, read, advice, written, gone in _WORKED_OUT
    ),
    Attribute(
        owners=_CONFIG,
        name="rope_scaling",
        read=_scaling_alone,
        advice='read rope_parameters, whose "rope_type" is "default" where it was None',
        differs=True,
        gone=_V5,
    ),
    Assigned(
        owners=_CONFIG,
        name="rope_scaling",
        convert=_with_base,
        advice="write rope_parameters, with rope_theta",
        gone=_V5,
    ),
)
