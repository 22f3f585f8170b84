"""Cast the input of a layer whose weight has another dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parameters import is_plain_float

if TYPE_CHECKING:
    import torch

_TAKE_ONE_DTYPE_ONLY = ("torch.nn.", "transformers.pytorch_utils")
"""Modules of the forward methods that raise where input and weight differ."""
UPCAST = "_patchkit_upcast"
"""Attribute of a layer whose weight became float32; its calls still take and return the dtype that
the weight had."""


def in_dtype_of(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """Return the input of a layer, cast to the dtype of its weight where the layer would raise.

    Only for use without autocast. The gradient of the input has the input's own dtype.

    Args:
        layer: a layer, or one that PEFT keeps a trained copy of (`modules_to_save`).
        x: its input, of whatever dtype.

    Returns:
        the input itself if there is nothing to cast: it holds no floats, the weight is packed or
        missing, or the layer casts its input itself.
    """
    weight: Any = getattr(layer, "weight", None)
    inner = getattr(layer, "original_module", layer)
    if not x.is_floating_point() or not _is_plain(weight) or not _refuses(inner):
        return x
    if hasattr(layer, UPCAST):
        return x
    return x.to(weight.dtype)


def in_dtype_of_base(base: Any, x: torch.Tensor, adapted: Any) -> torch.Tensor:
    """Do as `in_dtype_of` for the base layer of a PEFT layer.

    Args:
        base: the base layer.
        x: its input.
        adapted: the PEFT layer. Where `peft.helpers.disable_input_dtype_casting` holds, a hook
            casts the weight when the base layer runs, so its dtype now does not count.
    """
    return in_dtype_of(base, x) if getattr(adapted, "cast_input_dtype_enabled", True) else x


def _is_plain(weight: Any) -> bool:
    """Tell whether a weight is a float tensor of 16 bits or more, and no subclass."""
    import torch

    return (
        type(weight) in (torch.nn.Parameter, torch.Tensor)
        and is_plain_float(weight)
        and weight.itemsize >= 2
    )


def _refuses(layer: Any) -> bool:
    replaced = "forward" in vars(layer) and not hasattr(layer, "_hf_hook")
    home: str = type(layer).forward.__module__
    # Convolutions of models pad their input, or scale their weight, and cast neither.
    is_convolution = home.startswith("transformers.models.") and hasattr(layer, "_conv_forward")
    return (home.startswith(_TAKE_ONE_DTYPE_ONLY) or is_convolution) and not replaced
