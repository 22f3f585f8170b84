"""Current keywords and values for old ones of configurations, trainers and tokenizers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import LegacyError
from .call import OldCall

_NEARLY_ALL = math.nextafter(1, 0)
"""The largest share of the steps: 1 is a number of steps."""

_BY_WORD = "ignore_subwords"


def share_of_steps(share: float | None, call: OldCall) -> Mapping[str, Any]:
    """Return `warmup_steps` for a `warmup_ratio`; a number of steps overruled the share."""
    given = call.arguments.get("warmup_steps") or 0
    if not share or given > 0:
        return {}
    if not 0 <= share <= 1:
        raise LegacyError(f"warmup_ratio={share!r} is not a share of the steps.")
    call.arguments.pop("warmup_steps", None)
    return {"warmup_steps": min(share, _NEARLY_ALL)}


def sampling(by_length: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `train_sampling_strategy` for `group_by_length`."""
    return {"train_sampling_strategy": "group_by_length"} if by_length else {}


def adafactor(wanted: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `optim` for `adafactor`, which overruled it."""
    if not wanted:
        return {}
    call.arguments.pop("optim", None)
    return {"optim": "adafactor"}


def verification(skipped: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `verification_mode` for `ignore_verifications`."""
    return {"verification_mode": "no_checks"} if skipped else {}


def of_file_system(system: Any, call: OldCall) -> Mapping[str, Any]:
    """Return `storage_options` for a file system of fsspec, whose kind the address tells."""
    return {} if system is None else {"storage_options": system.storage_options or None}


def tuples(traced: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `return_dict` for `torchscript`: what is traced returns tuples."""
    return {"return_dict": False} if traced else {}


def liger_kernel(wanted: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return `use_liger_kernel` for the keywords that did the same."""
    return {} if wanted is None else {"use_liger_kernel": wanted}


def overruling(name: str, value: Any, call: OldCall) -> Mapping[str, Any]:
    """Return the current keyword for one that overruled it, unless it was false."""
    if not value:
        return {}
    call.arguments.pop(name, None)
    return {name: value}


def during_training(wanted: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `eval_strategy` for `evaluate_during_training`, which overruled it."""
    return overruling("eval_strategy", "steps" if wanted else None, call)


def inputs_for_metrics(wanted: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `include_for_metrics` for `include_inputs_for_metrics`."""
    if not wanted:
        return {}
    given = call.arguments.pop("include_for_metrics", None) or []
    return {"include_for_metrics": [*given, "inputs"]}


def tpu_metrics(wanted: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `debug` for `tpu_metrics_debug`."""
    if not wanted:
        return {}
    given = call.arguments.pop("debug", None) or ""
    return {"debug": f"{given} tpu_metrics_debug".strip()}


def repository(name: str | None, call: OldCall) -> Mapping[str, Any]:
    """Return `hub_model_id` for `push_to_hub_model_id`, and the organization with it."""
    if name is None:
        return {}
    organization = call.unknown.pop("push_to_hub_organization", None)
    return {"hub_model_id": f"{organization}/{name}" if organization else name}


def organization(name: str | None, call: OldCall) -> Mapping[str, Any]:
    """Return `hub_model_id` for `push_to_hub_organization`."""
    if name is None:
        return {}
    model = call.unknown.pop("push_to_hub_model_id", None)
    folder = call.arguments.get("output_dir") or "tmp_trainer"
    return {"hub_model_id": f"{name}/{model or Path(folder).name}"}


def padding_to_length(wanted: bool, call: OldCall) -> Mapping[str, Any]:
    """Return `padding` for `pad_to_max_length`, which gave way to it."""
    given = {**call.unknown, **call.arguments}
    if not wanted or given.get("padding"):
        return {}
    call.arguments.pop("padding", None)
    call.unknown.pop("padding", None)
    return {"padding": True if given.get("max_length") is None else "max_length"}


def truncating(strategy: Any, call: OldCall) -> Mapping[str, Any]:
    """Return `truncation` for `truncation_strategy`, which gave way to it."""
    given = {**call.unknown, **call.arguments}.get("truncation") is not None
    return {} if given or strategy is None else {"truncation": strategy}


def grouping(wanted: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return `aggregation_strategy` for `grouped_entities`, and for `ignore_subwords` with it."""
    by_word = call.unknown.pop(_BY_WORD, None)
    given = {**call.unknown, **call.arguments}.get("aggregation_strategy")
    return (
        {"aggregation_strategy": "first" if by_word else "simple"} if wanted and not given else {}
    )


def grouping_words(wanted: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return the same for `ignore_subwords`, which meant nothing alone."""
    call.unknown[_BY_WORD] = wanted
    return grouping(call.unknown.pop("grouped_entities", None), call)


def in_accelerator(name: str, value: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return `accelerator_config` for a keyword that belongs there."""
    if value is None:
        return {}
    return {"accelerator_config": {**_read(call, "accelerator_config"), name: value}}


def wrapped_layer(layer: str | None, call: OldCall) -> Mapping[str, Any]:
    """Return `fsdp_config` for `fsdp_transformer_layer_cls_to_wrap`."""
    if layer is None:
        return {}
    held = _read(call, "fsdp_config")
    given = held.get("transformer_layer_cls_to_wrap") or []
    layers = [given] if isinstance(given, str) else list(given)
    return {"fsdp_config": {**held, "transformer_layer_cls_to_wrap": [*layers, layer]}}


def least_parameters(number: int, call: OldCall) -> Mapping[str, Any]:
    """Return `fsdp_config` for `fsdp_min_num_params`; the larger number held."""
    if not number:
        return {}
    held = _read(call, "fsdp_config")
    return {"fsdp_config": {**held, "min_num_params": max(held.get("min_num_params", 0), number)}}


def _read(call: OldCall, name: str) -> dict[str, Any]:
    """Take a configuration out of a call: a mapping, or a file of JSON."""
    given = call.arguments.pop(name, None)
    if isinstance(given, str | os.PathLike):
        content: dict[str, Any] = json.loads(Path(given).read_text(encoding="utf-8"))
        return content
    held = given if isinstance(given, Mapping) else vars(given) if given is not None else {}
    return dict(held)


def half_precision(wanted: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return `mixed_precision` for `fp16`, which overruled it."""
    if not wanted:
        return {}
    call.arguments.pop("mixed_precision", None)
    return {"mixed_precision": "fp16"}


def data_loader(name: str, value: Any, call: OldCall) -> Mapping[str, Any]:
    """Return `dataloader_config` for a keyword of `Accelerator` that describes data loaders."""
    given = call.arguments.pop("dataloader_config", None)
    made = call.make("accelerate.DataLoaderConfiguration", given, **{name: value})
    return {"dataloader_config": made}


def longest(length: int | None, call: OldCall) -> Mapping[str, Any]:
    """Return `max_length` for `max_seq_length`; None was what the tokenizer can, up to 1024."""
    if length is not None:
        return {"max_length": length}
    return {"max_length": most_tokens(call)}


def most_tokens(call: OldCall) -> int:
    """Return how many tokens of a text `SFTTrainer` took by default."""
    tokenizer = call.arguments.get("processing_class") or call.unknown.get("tokenizer")
    return min(getattr(tokenizer, "model_max_length", None) or 1024, 1024)


def rpo(alpha: float | None, call: OldCall) -> Mapping[str, Any]:
    """Return the losses and their weights for `rpo_alpha`, the weight of the SFT loss."""
    if alpha is None:
        return {}
    given = call.arguments.pop("loss_type", None) or "sigmoid"
    losses = [given] if isinstance(given, str) else list(given)
    weights = call.arguments.pop("loss_weights", None) or [1.0] * len(losses)
    return {"loss_type": [*losses, "sft"], "loss_weights": [*weights, alpha]}


def named_dtype(name: str | None, call: OldCall) -> Mapping[str, Any]:
    """Return `dtype` for `torch_dtype`, which stays readable: today's default is another one."""
    getattr(call, "kept", {})["torch_dtype"] = name
    return {"dtype": name}


def steps_of_episodes(episodes: int | None, call: OldCall) -> Mapping[str, Any]:
    """Return `max_steps` for `total_episodes`, as TRL 0.22 to 0.24 did."""
    if episodes is None:
        return {}
    return {"max_steps": episodes // (call.arguments.get("gradient_accumulation_steps") or 1)}


def picked_by_vllm(value: Any, call: OldCall) -> Mapping[str, Any]:
    """Return nothing for a keyword that vLLM now sets; a script with vLLM may not set it."""
    given = {**call.arguments, **call.unknown}
    if value not in (None, "auto") and given.get("use_vllm"):
        raise LegacyError(
            'Say it to the server: `trl vllm-serve`, with vllm_mode="server" in the configuration.'
        )
    return {}


def pad_token_id(tokenizer: Any, call: OldCall) -> Mapping[str, Any]:
    return {"pad_token_id": getattr(tokenizer, "pad_token_id", 0)}


def dataset_name(names: Any, call: OldCall) -> Mapping[str, Any]:
    """Return `dataset_name` for the name of a dataset, or for several."""
    if names is None:
        return {}
    return {"dataset_name": names if isinstance(names, str) else ", ".join(names)}


def is_apex(backend: Any) -> bool:
    return bool(backend == "apex")


def is_index(index: int) -> bool:
    return index >= 0
