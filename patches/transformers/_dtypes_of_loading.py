"""Cast a model to half precision as loading it in that dtype would have made it."""

from __future__ import annotations

import copy
import inspect
import itertools
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

logger = logging.getLogger("patchkit")

# PEFT puts these between a module's name and its tensors.
_OF_PEFT = re.compile(r"\.(?:base_layer|original_module|modules_to_save\.[^.]+)(?=\.)")


def cast_as_loaded(model: torch.nn.Module, dtype: torch.dtype, device: Any) -> torch.nn.Module:
    """Cast a model in place, each tensor to the dtype that `from_pretrained(dtype=…)` gives it.

    Tensors that loading does not know, such as adapters, are cast as `model.to()` casts them. So is
    all of a model that cannot be built a second time.

    Args:
        model: the model, perhaps wrapped.
        dtype: `torch.float16` or `torch.bfloat16`.
        device: where the model is moved to.

    Returns:
        what `model.to()` returns.
    """
    parameters, buffers = [], []
    for module, name, planned in _of_another_dtype(model, dtype):
        if name in module._parameters:
            parameter = module._parameters[name]
            for tensor in (parameter, parameter.grad):
                if tensor is not None:
                    parameters.append((tensor, tensor.data, planned))
        else:
            buffers.append((module, name, module._buffers[name], planned))
    cast = model.to(dtype=dtype, device=device)
    for tensor, data, planned in parameters:
        tensor.data = data.to(device=tensor.device, dtype=planned)
    for module, name, buffer, planned in buffers:
        module._buffers[name] = buffer.to(device=module._buffers[name].device, dtype=planned)
    return cast


def dtypes_of_loading(model: PreTrainedModel, dtype: torch.dtype) -> dict[str, torch.dtype]:
    """Return what `from_pretrained(dtype=…)` does not load in that dtype: dtypes by name.

    The code of a model may ask for a dtype when it makes a tensor; buffers that are not saved, such
    as rotary frequencies, keep it, and so does the rest unless the model's float32 plan names it.

    Args:
        model: the model; its class is called once more, on the meta device.
        dtype: the dtype to load in.
    """
    import torch

    skeleton = _without_weights(model, dtype)
    planned = _float32_plan(skeleton, dtype)
    saved = skeleton.state_dict().keys()
    tensors = itertools.chain(
        skeleton.named_parameters(remove_duplicate=False),
        skeleton.named_buffers(remove_duplicate=False),
    )
    dtypes = {
        name: torch.float32 if name in saved and planned(name) else tensor.dtype
        for name, tensor in tensors
        if tensor.is_floating_point() or tensor.is_complex()
    }
    return {name: other for name, other in dtypes.items() if other != dtype}


def _of_another_dtype(
    model: torch.nn.Module, dtype: torch.dtype
) -> Iterator[tuple[torch.nn.Module, str, torch.dtype]]:
    """Yield modules, the names of tensors in them, and the dtypes that loading gives those."""
    for root in _outermost_pretrained(model):
        try:
            planned = dtypes_of_loading(root, dtype)
        except Exception as error:
            # Code that is not from Transformers may need more than its configuration.
            logger.warning(
                "patchkit: all of %s is cast to %s, since it cannot be built a second time: %s",
                type(root).__name__,
                dtype,
                error,
            )
            continue
        for prefix, module in root.named_modules():
            for name, tensor in (*module._parameters.items(), *module._buffers.items()):
                full = _OF_PEFT.sub("", f"{prefix}.{name}" if prefix else name)
                if full in planned and tensor is not None and _is_number(tensor):
                    yield module, name, planned[full]


def _outermost_pretrained(module: torch.nn.Module) -> Iterator[PreTrainedModel]:
    from transformers import PreTrainedModel

    if isinstance(module, PreTrainedModel):
        yield module
        return
    for child in module.children():
        yield from _outermost_pretrained(child)


def _is_number(tensor: torch.Tensor) -> bool:
    return is_plain_float(tensor) or tensor.is_complex()


def _without_weights(model: PreTrainedModel, dtype: torch.dtype) -> PreTrainedModel:
    """Build a model again as loading does before it has read a weight."""
    import torch

    cls = type(model)
    config = copy.deepcopy(model.config)
    for part in (config, *(getattr(config, name) for name in getattr(config, "sub_configs", ()))):
        if part is not None:
            setattr(part, "dtype" if hasattr(part, "dtype") else "torch_dtype", dtype)
    # Which kernels compute the attention makes no tensor another one, and some must be downloaded.
    config._attn_implementation = "eager"
    default = torch.get_default_dtype()
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.callback(torch.set_default_dtype, default)
        torch.set_default_dtype(dtype)
        for context in _contexts_of_loading(cls, dtype):
            stack.enter_context(context)
        return cls(config)


def _contexts_of_loading(
    cls: type[PreTrainedModel], dtype: torch.dtype
) -> list[AbstractContextManager[Any]]:
    import torch

    if not hasattr(cls, "get_init_context"):  # Transformers 4.49 and older
        return [torch.device("meta")]
    said = {
        "dtype": dtype,
        "is_quantized": False,
        "_is_ds_init_called": False,
        "allow_all_kernels": False,
    }
    wanted = inspect.signature(cls.get_init_context).parameters
    return list(cls.get_init_context(**{name: said[name] for name in wanted}))


def _float32_plan(model: PreTrainedModel, dtype: torch.dtype) -> Callable[[str], object]:
    """Return what tells by its name whether a saved tensor is loaded in float32."""
    import torch

    if hasattr(model, "_get_dtype_plan"):
        patterns = [name.replace("*", ".*") for name in model._get_dtype_plan(dtype)]
    else:
        names = list(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
        if dtype == torch.float16:
            names += model._keep_in_fp32_modules or ()
        patterns = [rf"(^|\.){name}($|\.)" for name in names]
    return re.compile("|".join(patterns) or r"(?!)").search
