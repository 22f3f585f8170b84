"""Attributes that scripts read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any

from ..changes import Attribute, Change
from .sources import notes

_ARGUMENTS = ("transformers.TrainingArguments",)
_MODEL = ("trl.ModelConfig",)
_TRAINER = ("transformers.Trainer",)

_RENAMED = (
    (_TRAINER, "tokenizer", "processing_class", "transformers 5.0.0"),
    (_MODEL, "torch_dtype", "dtype", "trl 0.27.0"),
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


def _false(args: Any) -> bool:
    return False


def _always(value: Any, args: Any) -> Any:
    return value


_UNGIVEN = {
    "adafactor": False,
    "fp16_backend": "auto",
    "fp16_opt_level": "O1",
    "fsdp_min_num_params": 0,
    "fsdp_transformer_layer_cls_to_wrap": None,
    "half_precision_backend": "auto",
    "include_inputs_for_metrics": False,
    "include_tokens_per_second": False,
    "jit_mode_eval": False,
    "past_index": -1,
    "push_to_hub_organization": None,
    "ray_scope": "last",
    "save_safetensors": True,
    "torchdynamo": None,
    "tpu_metrics_debug": False,
    "tpu_num_cores": None,
    "use_ipex": False,
    "use_legacy_prediction_loop": False,
}
"""Fields that scripts read which have a copy of a method of Trainer, and what they were."""

_WORKED_OUT: tuple[tuple[str, Callable[[Any], Any], str, str, str], ...] = (
    (
        "warmup_ratio",
        _share,
        "read warmup_steps",
        "transformers 5.15.0",
        "({object}.warmup_steps if {object}.warmup_steps < 1 else 0.0)",
    ),
    (
        "group_by_length",
        _by_length,
        "read train_sampling_strategy",
        "transformers 5.2.0",
        '({object}.train_sampling_strategy == "group_by_length")',
    ),
    ("logging_dir", _logs, "read TENSORBOARD_LOGGING_DIR", "transformers 5.15.0", ""),
    (
        "overwrite_output_dir",
        _false,
        "it is False where none was given; leave it out",
        "transformers 5.0.0",
        "False",
    ),
    ("use_mps_device", _false, "it is False; leave it out", "transformers 5.0.0", "False"),
    *(
        (
            name,
            partial(_always, value),
            f"it is {value!r} where none was given; leave it out",
            "transformers 5.0.0",
            repr(value),
        )
        for name, value in _UNGIVEN.items()
    ),
)


def _rows() -> Iterator[Change]:
    for owners, name, to, gone in _RENAMED:
        yield Attribute(
            owners=owners,
            name=name,
            read=attrgetter(to),
            advice=f"write {to}",
            written=f"{{object}}.{to}",
            gone=gone,
            source=notes(gone),
        )
    yield Attribute(
        owners=_MODEL,
        name="trust_remote_code",
        read=_false,
        advice="it is False unless the script says otherwise",
        written="False",
        gone="trl 1.7.0",
        source=notes("trl 1.7.0"),
    )
    for name, read, advice, gone, written in _WORKED_OUT:
        yield Attribute(
            owners=_ARGUMENTS,
            name=name,
            read=read,
            advice=advice,
            written=written,
            gone=gone,
            source=notes(gone),
        )


ROWS: tuple[Change, ...] = tuple(_rows())
