"""Find the plain layers of quantized models, and name them in the configuration."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_STATISTICS = ("weight.absmax", "SCB", "weight.SCB")
"""What a checkpoint has beside each packed weight, in 4-bit and in 8-bit."""


def before_loading_weights(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `_process_model_before_weight_loading`: name the head among what is not packed."""
    model = args[0]
    config = instance.quantization_config
    known = config.llm_int8_skip_modules
    checkpoint = _Checkpoint(kwargs.get("checkpoint_files"), model.base_model_prefix)
    kept = _kept(model, checkpoint, instance.pre_quantized, known)
    skipped = instance.get_modules_to_not_convert(model) if known is None and kept else known or []
    if not set(kept) <= set(skipped):
        instance.quantization_config = _naming(config, [*skipped, *kept])
    return wrapped(*args, **kwargs)


def before_saving(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `PreTrainedModel.save_pretrained`: name the plain layers that loading would pack."""
    config: Any = getattr(instance.config, "quantization_config", None)
    if hasattr(config, "llm_int8_skip_modules") and not _has_adapters(instance):
        plain = [
            name
            for name, module in instance.named_modules()
            if _is_packed_in_quantized_models(module)
        ]
        skipped = config.llm_int8_skip_modules
        if plain and skipped is None:
            from transformers.quantizers.base import HfQuantizer

            skipped = HfQuantizer.get_modules_to_not_convert(instance)
        # Transformers keeps these plain by parts of their names, which differ with releases.
        fragments = [*(skipped or ()), *(instance._keep_in_fp32_modules or ())]
        unnamed = [name for name in plain if not any(part in name for part in fragments)]
        if unnamed:
            instance.config.quantization_config = _naming(config, [*(skipped or ()), *unnamed])
    return wrapped(*args, **kwargs)


def _naming(config: Any, names: list[str]) -> Any:
    """Return a copy of a configuration, which may belong to other models, that names layers."""
    named = copy.copy(config)
    named.llm_int8_skip_modules = list(dict.fromkeys(names))
    return named


def _has_adapters(model: torch.nn.Module) -> bool:
    return any(type(module).__module__.startswith("peft.") for module in model.modules())


class _Checkpoint:
    """The names of the tensors in the files of a checkpoint, if they are known.

    Args:
        files: paths of safetensors; None where the release does not say, or the weights were given.
        prefix: of the names that a checkpoint of the base model alone does not have.
    """

    def __init__(self, files: list[Any] | None, prefix: str) -> None:
        self._prefix = f"{prefix}."
        readable = bool(files) and all(str(file).endswith(".safetensors") for file in files or ())
        self._files = files if readable else None
        self._names: set[str] | None = None

    def lacks(self, layer: str) -> bool:
        return self._files is not None and not self._has(layer, ("weight",))

    def has_packed(self, layer: str) -> bool:
        return self._files is None or self._has(layer, _STATISTICS)

    def _has(self, layer: str, tensors: tuple[str, ...]) -> bool:
        if self._names is None:
            from safetensors import safe_open

            self._names = set()
            for file in self._files or ():
                with safe_open(file, framework="pt") as opened:
                    self._names.update(opened.keys())
        names = (layer, layer.removeprefix(self._prefix))
        return any(f"{name}.{tensor}" in self._names for name in names for tensor in tensors)


def _kept(
    model: Any, checkpoint: _Checkpoint, packed_before: bool, given: list[str] | None
) -> list[str]:
    """Return the names of the layers that are not to be packed, besides those given."""
    head = list(_head(model))
    if packed_before:
        head = [name for name in head if not checkpoint.has_packed(name)]
    elif given is not None:
        head = [name for name in head if checkpoint.lacks(name)]
    return head + [name for name in _poolers(model) if head and checkpoint.lacks(name)]


def _head(model: Any) -> Iterator[str]:
    """Yield the linear layers outside of the base model; none of a model with an LM head."""
    import transformers

    base = _base(model)
    if base is None or model.get_output_embeddings() is not None:
        return
    in_base = [f"{model.base_model_prefix}.{name}" for name, _ in base.named_modules()]
    for name, child in model.named_children():
        if child is base or any(
            isinstance(part, transformers.PreTrainedModel) for part in child.modules()
        ):
            continue
        for path, part in child.named_modules(prefix=name):
            if _is_packed_in_quantized_models(part) and not any(
                other.endswith(path) for other in in_base
            ):
                yield path


def _poolers(model: Any) -> Iterator[str]:
    """Yield the linear layers of a pooler that belongs to the base model."""
    pooler = getattr(_base(model), "pooler", None)
    for path, part in () if pooler is None else pooler.named_modules():
        if _is_packed_in_quantized_models(part):
            yield ".".join(filter(None, (model.base_model_prefix, "pooler", path)))


def _base(model: Any) -> Any:
    base = model._modules.get(model.base_model_prefix)
    return None if base is model else base


def _is_packed_in_quantized_models(module: torch.nn.Module) -> bool:
    import torch
    from transformers.pytorch_utils import Conv1D

    return type(module) is torch.nn.Linear or isinstance(module, Conv1D)
