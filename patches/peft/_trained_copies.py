"""Copies of whole modules that PEFT trains: `modules_to_save`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from patchkit.authoring import value
from patchkit.precision.adapters import ADAPTER_CAST, shards_parameters
from patchkit.precision.autocast import is_autocast_on
from patchkit.precision.layer_input import UPCAST
from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch

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
    if vars(module).pop(UPCAST, False):
        dtype = _dtype_of(instance.original_module)
        for parameter in module.parameters():
            if is_plain_float(parameter):
                parameter.data = parameter.data.to(dtype)
    return module


def wrap_in_input_dtype(wrapper: Any, copy: Any) -> Callable[..., Any]:
    """Make a float32 copy of a module take and give what the module itself would.

    Without autocast the output has the dtype of the input. Under autocast, which decides that
    dtype, only the output of what has no floats to start from is cast: that of an embedding.

    Args:
        wrapper: the `ModulesToSaveWrapper`, which holds the original too.
        copy: the copy that is active.
    """

    def forward(*args: Any, **kwargs: Any) -> Any:
        floats = [value for value in (*args, *kwargs.values()) if _is_float(value)]
        if not floats:
            return _cast(copy(*args, **kwargs), _dtype_of(wrapper.original_module))
        if is_autocast_on(floats[0]):
            return copy(*args, **kwargs)
        inner = _dtype_of(copy)
        positional = tuple(_cast(value, inner) for value in args)
        named = {name: _cast(value, inner) for name, value in kwargs.items()}
        return _cast(copy(*positional, **named), floats[0].dtype)

    return forward


def _upcast(tuner: Any, adapter_name: str, autocast_adapter_dtype: bool = True) -> None:
    import torch

    # What shards parameters wants one dtype of them, or keeps float32 weights of its own.
    if (
        not autocast_adapter_dtype
        or shards_parameters(None)
        or tuner.peft_config[adapter_name].inference_mode
    ):
        return
    for copy in _copies(tuner.model, adapter_name):
        dtypes = {torch.float16, torch.bfloat16} if _may_lose_no_update(copy) else {torch.float16}
        for parameter in copy.parameters():
            if parameter.dtype in dtypes and is_plain_float(parameter):
                parameter.data = parameter.data.float()
                setattr(copy, UPCAST, True)


def _may_lose_no_update(copy: torch.nn.Module) -> bool:
    """Tell whether a bfloat16 copy is worth float32: a small one, if the user did not choose."""
    elements = sum(parameter.numel() for parameter in copy.parameters())
    return elements <= SMALL and value(ADAPTER_CAST) != "bf16"


def _copies(model: Any, adapter_name: str) -> Iterator[torch.nn.Module]:
    from peft.utils.other import ModulesToSaveWrapper

    for module in model.modules():
        if isinstance(module, ModulesToSaveWrapper) and adapter_name in module.modules_to_save:
            yield module.modules_to_save[adapter_name]


def _dtype_of(module: torch.nn.Module) -> torch.dtype:
    return next(tensor.dtype for tensor in module.parameters() if is_plain_float(tensor))


def _is_float(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_cast(part, dtype) for part in value)
    return value.to(dtype) if _is_float(value) else value
