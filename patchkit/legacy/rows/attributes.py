"""Attributes that scripts read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..changes import Attribute, Change
from .many import WorkedOut, always, renamed, worked_out

_ARGUMENTS = ("transformers.TrainingArguments",)
_MODEL = ("trl.ModelConfig",)
_TRAINER = ("transformers.Trainer",)

_RENAMED: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (_TRAINER, "tokenizer", "processing_class", "transformers 5.0.0"),
    (_MODEL, "torch_dtype", "dtype", "trl 0.27.0"),
    (("transformers.CallbackHandler",), "tokenizer", "processing_class", "transformers 5.0.0"),
    (_ARGUMENTS, "evaluation_strategy", "eval_strategy", "transformers 4.51.0"),
    (_ARGUMENTS, "no_cuda", "use_cpu", "transformers 5.0.0"),
    (
        _ARGUMENTS,
        "per_gpu_train_batch_size",
        "per_device_train_batch_size",
        "transformers 5.0.0",
    ),
    (_ARGUMENTS, "per_gpu_eval_batch_size", "per_device_eval_batch_size", "transformers 5.0.0"),
    (_ARGUMENTS, "push_to_hub_token", "hub_token", "transformers 5.0.0"),
    (_ARGUMENTS, "push_to_hub_model_id", "hub_model_id", "transformers 5.0.0"),
    (("trl.SFTConfig",), "max_seq_length", "max_length", "trl 0.20.0"),
    (("trl.SFTConfig", "trl.DPOConfig"), "use_liger", "use_liger_kernel", "trl 0.18.0"),
)


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


_WORKED_OUT: tuple[WorkedOut, ...] = (
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
)
_CONSTANT: tuple[tuple[tuple[str, ...], str, object, str], ...] = (
    (_MODEL, "trust_remote_code", False, "trl 1.7.0"),
    (_ARGUMENTS, "adafactor", False, "transformers 5.0.0"),
    (_ARGUMENTS, "fp16_backend", "auto", "transformers 5.0.0"),
    (_ARGUMENTS, "fp16_opt_level", "O1", "transformers 5.0.0"),
    (_ARGUMENTS, "fsdp_min_num_params", 0, "transformers 5.0.0"),
    (_ARGUMENTS, "fsdp_transformer_layer_cls_to_wrap", None, "transformers 5.0.0"),
    (_ARGUMENTS, "half_precision_backend", "auto", "transformers 5.0.0"),
    (_ARGUMENTS, "include_inputs_for_metrics", False, "transformers 5.0.0"),
    (_ARGUMENTS, "include_tokens_per_second", False, "transformers 5.0.0"),
    (_ARGUMENTS, "jit_mode_eval", False, "transformers 5.0.0"),
    (_ARGUMENTS, "overwrite_output_dir", False, "transformers 5.0.0"),
    (_ARGUMENTS, "past_index", -1, "transformers 5.0.0"),
    (_ARGUMENTS, "push_to_hub_organization", None, "transformers 5.0.0"),
    (_ARGUMENTS, "ray_scope", "last", "transformers 5.0.0"),
    (_ARGUMENTS, "save_safetensors", True, "transformers 5.0.0"),
    (_ARGUMENTS, "torchdynamo", None, "transformers 5.0.0"),
    (_ARGUMENTS, "tpu_metrics_debug", False, "transformers 5.0.0"),
    (_ARGUMENTS, "tpu_num_cores", None, "transformers 5.0.0"),
    (_ARGUMENTS, "use_ipex", False, "transformers 4.57.0"),
    (_ARGUMENTS, "use_legacy_prediction_loop", False, "transformers 5.0.0"),
    (_ARGUMENTS, "use_mps_device", False, "transformers 5.0.0"),
)
"""Attributes that have one value where a script has given none, or wherever it is."""


def _rows() -> Iterator[Change]:
    yield from (renamed(*row) for row in _RENAMED)
    for owners, name, value, gone in _CONSTANT:
        yield Attribute(
            owners=owners,
            name=name,
            read=always(value),
            advice=f"it is {value!r} unless the script says otherwise; leave it out",
            written=repr(value),
            gone=gone,
        )
    yield from worked_out(_WORKED_OUT)


ROWS: tuple[Change, ...] = tuple(_rows())
