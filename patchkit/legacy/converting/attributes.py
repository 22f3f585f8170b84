"""Attributes and methods that objects of the libraries had, as far as rows name no other function.

Each takes the object. A method takes its arguments, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

_DEFAULT_DTYPE = "float32"
_OF_POSITIONS = ("rope_theta", "partial_rotary_factor")


def itself(model: Any) -> Any:
    return model


def warnings_issued(model: Any) -> dict[str, bool]:
    issued: dict[str, bool] = vars(model).setdefault("warnings_issued", {})
    return issued


class _Longest(dict[str, int]):
    """The length of the longest input, whatever checkpoint is asked for."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __missing__(self, name: str) -> int:
        return self._length


def longest_input(tokenizer: Any) -> Mapping[str, int]:
    return _Longest(tokenizer.model_max_length)


def values_in_order(output: Any) -> Iterator[Any]:
    return iter(output.to_tuple())


def active_adapter(model: Any) -> Any:
    return model.active_adapters()[0]


def is_fp16(accelerator: Any) -> bool:
    return bool(accelerator.mixed_precision == "fp16")


def share_of_warmup(args: Any) -> float:
    steps: float = args.warmup_steps
    return steps if 0 < steps < 1 else 0.0


def is_by_length(args: Any) -> bool:
    return bool(args.train_sampling_strategy == "group_by_length")


def folder_of_logs(args: Any) -> str:
    return os.environ.get("TENSORBOARD_LOGGING_DIR") or os.path.join(args.output_dir, "runs")


def gather(trainer: Any, *args: Any, **kwargs: Any) -> Any:
    from transformers.trainer_pt_utils import nested_gather

    return nested_gather(*args, parallel_mode=trainer.args.parallel_mode, **kwargs)


def gather_in_numpy(trainer: Any, tensors: Any, name: str = "") -> Any:
    from transformers.trainer_pt_utils import nested_numpify

    return None if tensors is None else nested_numpify(gather(trainer, tensors))


def pad(trainer: Any, tensor: Any, pad_index: int = -100) -> Any:
    return trainer.accelerator.pad_across_processes(tensor, dim=1, pad_index=pad_index)


def first(_: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    return model


def whole_modules(model: Any, device_map: str = "auto") -> list[str]:
    return list(model._no_split_modules or ())


def sorted_checkpoints(
    trainer: Any,
    output_dir: str | None = None,
    checkpoint_prefix: str = "checkpoint",
    use_mtime: bool = False,
) -> list[str]:
    from transformers.trainer_utils import sort_checkpoints

    folder = output_dir or trainer.args.output_dir
    best = trainer.state.best_model_checkpoint
    found: list[str] = sort_checkpoints(folder, checkpoint_prefix, use_mtime, best)
    return found


def rotate_checkpoints(
    trainer: Any, use_mtime: bool = False, output_dir: str | None = None
) -> None:
    from transformers.trainer_utils import rotate_checkpoints

    best, limit = trainer.state.best_model_checkpoint, trainer.args.save_total_limit
    rotate_checkpoints(output_dir or trainer.args.output_dir, limit, best, use_mtime)


def special_tokens(tokenizer: Any) -> dict[str, Any]:
    extra = tokenizer.extra_special_tokens
    more = {"additional_special_tokens": extra} if extra else {}
    return {**tokenizer.special_tokens_map, **more}


def kind_of_loss(trainer: Any) -> Any:
    kinds = trainer.loss_types
    return kinds[0] if len(kinds) == 1 else kinds


def longest_prompt(trainer: Any) -> Any:
    return getattr(trainer.args, "max_prompt_length", 512)


def base_of_positions(config: Any) -> Any:
    return (getattr(config, "rope_parameters", None) or {}).get("rope_theta", 10000.0)


def with_base(config: Any, scaling: Any) -> dict[str, Any]:
    """Return what positions are made of: a scaling, or none, and the base that is there."""
    present = getattr(config, "rope_parameters", None) or {}
    base = {name: present[name] for name in _OF_POSITIONS if name in present}
    return {**base, **(scaling or {"rope_type": "default"})}


def scaling_alone(config: Any) -> Any:
    """Return what `rope_scaling` held: None without a scaling, and else its kind by both names."""
    present = dict(config.rope_parameters or {})
    if "rope_type" not in present:
        return present or None  # for each kind of layer
    if present["rope_type"] == "default":
        return None
    scaling = {name: value for name, value in present.items() if name not in _OF_POSITIONS}
    return {**scaling, "type": present["rope_type"]}


def of_parts(names: str, cls: Any, *parts: Any, **settings: Any) -> Any:
    """Make a configuration of those of the model's parts, by these names."""
    given = {**dict(zip(names.split(), parts, strict=False)), **settings}
    return cls(
        **{name: getattr(part, "to_dict", lambda p=part: p)() for name, part in given.items()}
    )


def dtype_of_model_config(config: Any) -> Any:
    """Return the dtype of `ModelConfig`, whose default was None."""
    return None if config.dtype == _DEFAULT_DTYPE else config.dtype


def added(column: Any, other: Any) -> Any:
    return column[:] + (other[:] if type(other).__name__ == "Column" else other)


def added_to(column: Any, other: Any) -> Any:
    return other + column[:]


def repeated(column: Any, times: int) -> Any:
    return column[:] * times


def of_whole_column(name: str, column: Any) -> Any:
    """Return what lists, arrays and tensors have, and a column does not have."""
    return getattr(column[:], name)
