"""Copies of whole modules that PEFT trains: `modules_to_save`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from patchkit.authoring import value
from patchkit.precision.adapters import ADAPTER_CAST, shards_parameters
from patchkit.precision.autocast import is_autocast_on
from patchkit.precision.layer_input import UPCAST
from patchkit.precision.parameters import is_plain_float

from ._unpacked import plain_dtype

if TYPE_CHECKING:
    import torch

_BEFORE_NORMS = "_patchkit_before_norms"
"""Attribute of a trained copy in a model with norms that a CPU does not let take float32."""
SMALL = 2**20
"""Elements up to which a bfloat16 copy is given float32, too: 8 MiB more, with its optimizer."""


def after_cast_adapter_dtype(
    wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Wrap `BaseTuner._cast_adapter_dtype`, which PEFT calls for each new or loaded adapter."""
    wrapped(*args, **kwargs)
    _upcast(instance, *args, **kwargs)


def after_unload(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `ModulesToSaveWrapper.unload_and_optionally_merge_module`: restore the base's dtype."""
    module = wrapped(*args, **kwargs)
    vars(module).pop(_BEFORE_NORMS, None)
    if UPCAST in vars(module):
        dtype = plain_dtype(instance.original_module) or vars(module)[UPCAST]
        del vars(module)[UPCAST]
        for parameter in module.parameters() if dtype is not None else ():
            if is_plain_float(parameter):
                parameter.data = parameter.data.to(dtype)
        before = dict(instance.original_module.named_buffers())
        for name, buffer in module.named_buffers():
            if name in before and is_plain_float(before[name]):
                buffer.data = buffer.data.to(before[name].dtype)
    return module


def wrap_in_input_dtype(wrapper: Any, copy: Any) -> Callable[..., Any]:
    """Make a float32 copy of a module take and give what the module itself would.

    Under autocast, which casts where an operation needs it, the copy is called as it is: like one
    that somebody else made float32. A CPU's autocast leaves half-precision `LayerNorm` alone, which
    refuses an embedding's float32, as any layer does without autocast: there the output has the
    dtype of the input or, where no input has floats, that of the original.

    Args:
        wrapper: the `ModulesToSaveWrapper`, which holds the original too.
        copy: the copy that is active.
    """

    def forward(*args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if _is_tensor(value)]
        floats = [tensor for tensor in tensors if tensor.is_floating_point()]
        if any(map(is_autocast_on, tensors[:1])) and (
            floats or not tensors[0].is_cpu or not hasattr(copy, _BEFORE_NORMS)
        ):
            return copy(*args, **kwargs)
        if not floats:
            return _cast(copy(*args, **kwargs), plain_dtype(wrapper.original_module))
        inner = plain_dtype(copy)
        positional = tuple(_cast(value, inner) for value in args)
        named = {name: _cast(value, inner) for name, value in kwargs.items()}
        return _cast(copy(*positional, **named), floats[0].dtype)

    return forward


def _upcast(tuner: Any, adapter_name: str, autocast_adapter_dtype: bool = True) -> None:
    import torch

    for copy in _copies(tuner.model, adapter_name):
        if vars(copy).get(UPCAST, False) is None:  # its layers did not say what they had been
            setattr(copy, UPCAST, getattr(tuner.model, "dtype", None))
    # What shards parameters wants one dtype of them, or keeps float32 weights of its own.
    if (
        not autocast_adapter_dtype
        or shards_parameters(None)
        or tuner.peft_config[adapter_name].inference_mode
    ):
        return
    before_norms = any(map(_refuses_float32_on_cpu, tuner.model.modules()))
    for copy in _copies(tuner.model, adapter_name):
        dtypes = {torch.float16, torch.bfloat16} if _may_lose_no_update(copy) else {torch.float16}
        half = [weight for weight in copy.parameters() if weight.dtype in dtypes]
        if not any(map(is_plain_float, half)):
            continue
        setattr(copy, UPCAST, True)
        if before_norms:
            setattr(copy, _BEFORE_NORMS, True)
        # A norm wants its running statistics in the dtype of its weight.
        for tensor in (*half, *(buffer for buffer in copy.buffers() if buffer.dtype in dtypes)):
            if is_plain_float(tensor):
                tensor.data = tensor.data.float()


def _refuses_float32_on_cpu(module: torch.nn.Module) -> bool:
    import torch

    weight = module.weight if isinstance(module, torch.nn.LayerNorm) else None
    return weight is not None and weight.itemsize < 4


def _may_lose_no_update(copy: torch.nn.Module) -> bool:
    """Tell whether a bfloat16 copy is worth float32: a small one, if the user did not choose."""
    elements = sum(parameter.numel() for parameter in copy.parameters())
    return elements <= SMALL and value(ADAPTER_CAST) != "bf16"


def _copies(model: Any, adapter_name: str) -> Iterator[torch.nn.Module]:
    from peft.utils.other import ModulesToSaveWrapper

    for module in model.modules():
        if isinstance(module, ModulesToSaveWrapper) and adapter_name in module.modules_to_save:
            yield module.modules_to_save[adapter_name]


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _cast(value: Any, dtype: torch.dtype | None) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_cast(part, dtype) for part in value)
    return value.to(dtype) if _is_tensor(value) and value.is_floating_point() else value
