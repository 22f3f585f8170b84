"""The dtype that 4-bit layers of bitsandbytes compute in, and that of their quant states.

`QuantState.dtype` is what `dequantize_4bit` returns (bitsandbytes, `functional.py`). Under double
quantization the state holds a second one, `state2`, whose `dtype` is that of the dequantized
`absmax`, the scales of the blocks: float32 whatever the layer computes in, and never to be changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_DTYPE_IN_LIST = 2
"""Its index in releases before `QuantState`: `[absmax, shape, dtype, blocksize, nested, type]`."""

_LARGEST_CODE = 127
"""What an 8-bit weight holds where its row has the value of the row's scale."""

_PACKING = ("Linear4bit", "Embedding4bit", "Linear8bitLt", "Embedding8bit")


def four_bit_layers(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield all `Linear4bit` of bitsandbytes with their names, those under PEFT layers included.

    They are recognised by an attribute, so that bitsandbytes need not be imported.
    """
    for name, module in model.named_modules():
        if "compute_type_is_set" in vars(module):
            yield name, module


def packs_weight(module: torch.nn.Module) -> bool:
    """Tell whether a module of bitsandbytes keeps quantized numbers in its `weight`.

    FSDP may turn such a weight into a plain parameter, so the module is checked.
    """
    return any(
        cls.__name__ in _PACKING and cls.__module__.startswith("bitsandbytes")
        for cls in type(module).__mro__
    )


def quant_states(module: torch.nn.Module) -> list[Any]:
    """Return the quant states of a module: its weight's, and its own if that is another one."""
    weight = module._parameters.get("weight")
    states: list[Any] = []
    for state in (getattr(weight, "quant_state", None), vars(module).get("quant_state")):
        if state is not None and not any(state is known for known in states):
            states.append(state)
    return states


def dtype_of(state: Any) -> torch.dtype | None:
    """Return the dtype that a quant state dequantizes to; in old releases it is a list.

    An AVX-512 CPU repacks the weights of a layer for inference; meanwhile `original_dtype` holds
    the state's dtype.
    """
    if isinstance(state, (list, tuple)):
        return state[_DTYPE_IN_LIST] if len(state) > _DTYPE_IN_LIST else None
    return getattr(state, _attribute(state), None)


def set_dtype(state: Any, dtype: torch.dtype) -> None:
    """Make a quant state dequantize to `dtype`; the packed numbers and their scales stay."""
    if isinstance(state, list):
        state[_DTYPE_IN_LIST] = dtype
    else:
        setattr(state, _attribute(state), dtype)


def requantized_like(old: torch.nn.Parameter, new: torch.nn.Parameter) -> torch.nn.Parameter:
    """Give a requantized weight the quant state's dtype of the weight that it replaces."""
    before, after = (getattr(weight, "quant_state", None) for weight in (old, new))
    if before is not None and after is not None and before is not after:
        dtype = dtype_of(before)
        if dtype is not None and dtype != dtype_of(after):
            set_dtype(after, dtype)
    return new


def is_repacked(state: Any) -> bool:
    """Tell whether an AVX-512 CPU has repacked the weight of a quant state for inference."""
    return bool(getattr(state, "packing_format_for_cpu", False))


def _attribute(state: Any) -> str:
    return "original_dtype" if is_repacked(state) else "dtype"


def unpack_in_place(weight: torch.Tensor) -> Any:
    """Bring a packed weight back into the layout that gradients need; return its quant state."""
    from bitsandbytes.functional import _convert_weight_packed_for_cpu_inverse as inverse

    packed: Any = weight
    packed.data, packed.quant_state = inverse(packed.data, packed.quant_state)
    return packed.quant_state


def packed_values(layer: Any) -> torch.Tensor | None:
    """Return a weight that bitsandbytes has packed, in float32; None if it is not packed."""
    if getattr(getattr(layer, "weight", None), "quant_state", None) is not None:
        return values_of_4bit(layer.weight)
    return values_of_8bit(layer)


def values_of_4bit(weight: Any) -> torch.Tensor:
    """Return the values of a `Params4bit` in float32.

    A weight that a CPU has repacked for inference is unpacked first, in place.
    """
    import copy

    import torch
    from bitsandbytes.functional import dequantize_4bit

    state = unpack_in_place(weight) if is_repacked(weight.quant_state) else weight.quant_state
    exact = copy.copy(state)
    exact.dtype = torch.float32
    return dequantize_4bit(weight.data, exact)


def values_of_8bit(layer: Any) -> torch.Tensor | None:
    """Return the values of the weight of a `Linear8bitLt` in float32; None for other layers."""
    scales = scales_of_8bit(layer)
    return None if scales is None else layer.weight.data.float() * scales[:, None] / _LARGEST_CODE


def scales_of_8bit(layer: Any) -> torch.Tensor | None:
    """Return the scales of an 8-bit layer's rows: its first forward moves them."""
    scales: torch.Tensor | None = getattr(getattr(layer, "weight", None), "SCB", None)
    return scales if scales is not None else getattr(getattr(layer, "state", None), "SCB", None)
