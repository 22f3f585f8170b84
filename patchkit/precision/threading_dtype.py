"""Thread one dtype through a model in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..settings import DTYPES
from ..text import short_list
from .other_quantizers import quantizer_of
from .parameters import cast_in_place, is_plain_float
from .quant_state import dtype_of, four_bit_layers, packs_weight, quant_states, set_dtype

if TYPE_CHECKING:
    import torch

_HALF = ("float16", "bfloat16")
_CONFIG_DTYPES = ("dtype", "torch_dtype", "_pre_quantization_dtype")


@dataclass(frozen=True)
class ThreadedDtype:
    """The changes that threaded one dtype through a model; false if there were none.

    Args:
        dtype: the dtype by its name, such as `float16`.
        compute_dtypes: names of the 4-bit layers that computed in another dtype.
        quant_states: names of the layers whose quant state dequantized to another dtype.
        parameters: names of the parameters that were cast.
        buffers: names of the buffers that were cast.
        kept_float32: names of the parameters that their model wants in float32 beside this dtype
            (`_keep_in_fp32_modules`) and that were cast to it.
        configs: the fields of configurations that were set, such as `LlamaConfig.dtype`.
    """

    dtype: str
    compute_dtypes: tuple[str, ...] = ()
    quant_states: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    kept_float32: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Number of changes of each kind, kinds with none left out."""
        return {kind: len(names) for kind, names in self._by_kind()}

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        if not self:
            return f"{self.dtype} throughout: nothing to change"
        lines = [f"  {len(names)} {kind}: {short_list(names)}" for kind, names in self._by_kind()]
        return "\n".join([f"{self.dtype} threaded through the model:", *lines])

    def _by_kind(self) -> list[tuple[str, tuple[str, ...]]]:
        pairs = ((kind, getattr(self, name)) for name, kind in _KINDS.items())
        return [(kind, names) for kind, names in pairs if names]


_KINDS = {
    "compute_dtypes": "compute dtypes",
    "quant_states": "quant states",
    "parameters": "parameters",
    "buffers": "buffers",
    "kept_float32": "parameters kept in float32",
    "configs": "configuration fields",
}


def thread_dtype(model: Any, dtype: Any) -> ThreadedDtype:
    """Thread one dtype through a model; `patchkit.thread_dtype` describes it."""
    name = _name_of(dtype)
    _check(model)
    changes = DtypeChanges(name)
    changes.thread_quantized(model)
    return changes.thread_weights(model)


class DtypeChanges:
    """Threads a dtype through a model; each method returns all changes so far."""

    def __init__(self, name: str) -> None:
        import torch

        self._name = name
        self._dtype: torch.dtype = getattr(torch, name)
        self._changed: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def thread_quantized(self, model: torch.nn.Module) -> ThreadedDtype:
        """Thread the dtype through the quantized layers of a model only.

        This sets their compute dtypes, their quant states and the entries of the configuration
        about them. No parameter and no buffer is touched.
        """
        dtype = self._dtype
        layers: Any = list(four_bit_layers(model))
        for name, layer in layers:
            if layer.compute_dtype != dtype or not layer.compute_type_is_set:
                layer.compute_dtype = dtype
                layer.compute_type_is_set = True
                self._changed["compute_dtypes"].append(name)
        for name, module in model.named_modules():
            for state in quant_states(module):
                if dtype_of(state) not in (None, dtype):
                    if isinstance(state, tuple):
                        state = _replace_tuple(module, state)
                    set_dtype(state, dtype)
                    self._changed["quant_states"].append(name)
        if layers:
            for config in _quantization_configs(model):
                self._set(config, "bnb_4bit_compute_dtype")
        return self._summary()

    def thread_weights(self, model: torch.nn.Module) -> ThreadedDtype:
        """Thread the dtype through all of a model except its quantized layers."""
        import torch

        adapters = _adapter_parameters(model)
        keeps = _float32_names(model, self._name)
        for name, module, tensor in _tensors(model):
            if id(tensor) in adapters or not _may_cast(module, name, tensor):
                continue
            parameter = isinstance(tensor, torch.nn.Parameter)
            keep = parameter and any(pattern.search(name) for pattern in keeps)
            target = torch.float32 if keep else self._dtype
            if tensor.dtype != target:
                cast_in_place(tensor, target)
                kind = "kept_float32" if keep else "parameters" if parameter else "buffers"
                self._changed[kind].append(name)
        for config in _configs(model):
            for name in _CONFIG_DTYPES:
                if _is_half(vars(config).get(name)):
                    self._set(config, name)
        return self._summary()

    def _summary(self) -> ThreadedDtype:
        return ThreadedDtype(
            self._name, **{kind: tuple(names) for kind, names in self._changed.items()}
        )

    def _set(self, config: Any, name: str) -> None:
        if isinstance(config, dict):
            if config.get(name) not in (None, self._dtype, self._name):
                config[name] = self._name
                self._changed["configs"].append(f"quantization_config.{name}")
        elif str(getattr(config, name, self._dtype)).removeprefix("torch.") != self._name:
            setattr(config, name, self._dtype)
            self._changed["configs"].append(f"{type(config).__name__}.{name}")


def _name_of(dtype: object) -> str:
    # `str(torch.float16)` is "torch.float16".
    name = DTYPES.get(str(dtype).removeprefix("torch."))
    if name is None:
        raise UsageError(
            f"thread_dtype(model, dtype): a model computes in torch.float16, torch.bfloat16 or "
            f"torch.float32 (or their names, such as 'fp16'), not in {dtype!r}; to quantize it, "
            "load it with a quantization_config"
        )
    return name


def _check(model: Any) -> None:
    import torch

    if not isinstance(model, torch.nn.Module):
        raise UsageError(
            f"thread_dtype(model, dtype): the model must be a torch.nn.Module, not "
            f"{type(model).__name__}; of a trainer or a pipeline give its `.model`"
        )
    known = quantizer_of(model)
    if known:
        raise UsageError(
            f"thread_dtype(model, dtype): this model is quantized by {known}, whose tensors "
            "have dtypes of their own; load it with dtype= instead"
        )
    if any(_is_sharded(parameter) for parameter in model.parameters()):
        raise UsageError(
            "thread_dtype(model, dtype): the parameters are sharded (FSDP, DeepSpeed ZeRO-3 or "
            "DTensor), and their dtype is settled; call it before the model is wrapped"
        )


def _is_sharded(tensor: Any) -> bool:
    return (
        hasattr(tensor, "ds_id")
        or hasattr(tensor, "_is_flat_param")
        or hasattr(tensor, "device_mesh")
        or type(tensor).__name__ == "FlatParameter"
    )


def _tensors(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module, torch.Tensor]]:
    """Yield parameters and buffers, each once, with their full names and their modules."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if tensor is not None and id(tensor) not in seen:
                seen.add(id(tensor))
                yield f"{prefix}.{name}" if prefix else name, module, tensor


def _may_cast(module: torch.nn.Module, name: str, tensor: torch.Tensor) -> bool:
    """Tell whether a tensor holds a model's own numbers, in half precision.

    A float32 tensor in a half-precision model was made so on purpose.
    """
    import torch

    last = name.rpartition(".")[2]
    if last == "weight" and packs_weight(module):
        return False
    if last in ("inv_freq", "original_inv_freq"):  # rounded once, they would stay so
        return False
    plain = type(tensor.data) is torch.Tensor and is_plain_float(tensor)
    return plain and _is_half(tensor.dtype) and not _is_sharded(tensor)


def _is_half(dtype: object) -> bool:
    """Tell whether a dtype, or its name in a configuration, is one of half precision."""
    return str(dtype).removeprefix("torch.") in _HALF


def _adapter_parameters(model: torch.nn.Module) -> set[int]:
    """Return the ids of PEFT's tensors and of all other trained ones: they keep their dtype.

    A model without adapters has `requires_grad` everywhere, which says nothing there.
    """
    ids: set[int] = set()
    for module in model.modules():
        # PEFT's layers have the first attribute, its wrapper of wholly trained modules the second.
        layer = getattr(module, "adapter_layer_names", None)
        names = layer if isinstance(layer, tuple) else ()
        if names:
            names += tuple(getattr(module, "other_param_names", ()))
        for name in (*names, "modules_to_save"):
            part: Any = getattr(module, name, None)
            if hasattr(part, "parameters"):
                ids.update(map(id, (*part.parameters(), *part.buffers())))
    if ids:
        ids.update(id(parameter) for parameter in model.parameters() if parameter.requires_grad)
    return ids


def _float32_names(model: torch.nn.Module, dtype: str) -> list[re.Pattern[str]]:
    """Return what models want in float32 beside a half-precision dtype, as patterns of names.

    Transformers' `_keep_in_fp32_modules` holds for float16, the strict one for bfloat16 as well.
    """
    if dtype not in _HALF:
        return []
    lists = ["_keep_in_fp32_modules_strict"]
    if dtype == "float16":
        lists.append("_keep_in_fp32_modules")
    patterns: dict[str, None] = {}
    for prefix, module in model.named_modules():
        start = rf"^{re.escape(prefix)}\." if prefix else "^"
        for attribute in lists:
            for name in getattr(module, attribute, None) or ():
                inner = re.escape(name).replace(r"\*", ".*")
                patterns[f"{start}(?:.*\\.)?{inner}(?:\\.|$)"] = None
    return [re.compile(pattern) for pattern in patterns]


def _configs(model: torch.nn.Module) -> list[Any]:
    """Return the configurations of a model and of its parts, each once."""
    configs: list[Any] = []
    queue = [vars(module).get("config") for module in model.modules()]
    while queue:
        config = queue.pop(0)
        if not hasattr(config, "to_dict") or any(config is known for known in configs):
            continue
        configs.append(config)
        queue += [getattr(config, name, None) for name in getattr(config, "sub_configs", ()) or ()]
    return configs


def _quantization_configs(model: torch.nn.Module) -> list[Any]:
    """Return the quantization configurations of a model, each once."""
    quantizers = [getattr(module, "hf_quantizer", None) for module in model.modules()]
    holders = [*_configs(model), *quantizers]
    configs: list[Any] = []
    for holder in holders:
        config = getattr(holder, "quantization_config", None)
        if config is not None and not any(config is known for known in configs):
            configs.append(config)
    return configs


def _replace_tuple(module: torch.nn.Module, state: tuple[Any, ...]) -> list[Any]:
    replaced = list(state)
    for holder in (module._parameters.get("weight"), module):
        if getattr(holder, "quant_state", None) is state:
            holder.quant_state = replaced
    return replaced
