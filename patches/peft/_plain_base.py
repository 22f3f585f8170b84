"""Merges of layers that know plain weights only, into a weight that bitsandbytes has packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from patchkit.precision.quant_state import packed_values, requantized_like

from ._requantized import to_be_quantized

if TYPE_CHECKING:
    import torch


def with_plain_base(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `merge` and `unmerge` of such a layer."""
    base = instance.get_base_layer()
    values = packed_values(base)
    if values is None:
        return wrapped(*args, **kwargs)
    with _plain_weight(instance, base, values):
        return wrapped(*args, **kwargs)


@contextmanager
def _plain_weight(layer: Any, base: Any, values: torch.Tensor) -> Iterator[None]:
    """Let a base layer hold plain values while the block runs, and quantize them again.

    If nothing was merged, the weight is the one from before, and so it is after an error.

    Args:
        layer: the layer of the adapters.
        base: its base layer.
        values: those of the packed weight.
    """
    import torch

    packed, merged = base.weight, list(layer.merged_adapters)
    base._parameters["weight"] = torch.nn.Parameter(values, requires_grad=False)
    try:
        yield
        weight = packed
        if layer.merged_adapters != merged:
            weight = _quantized_like(packed, base.weight.data)
    except BaseException:
        base._parameters["weight"] = packed
        layer.merged_adapters[:] = merged
        raise
    base._parameters["weight"] = weight
    if weight is not packed and hasattr(base, "state"):
        base.state.reset_grads()


def _quantized_like(packed: Any, values: torch.Tensor) -> Any:
    """Quantize values as a packed weight was, on its device."""
    from bitsandbytes import nn

    plain: Any = values.to("cpu")
    if getattr(packed, "quant_state", None) is not None:
        weight = nn.Params4bit(plain, **to_be_quantized(vars(packed))).to(packed.device)
        return requantized_like(packed, weight)
    options: Any = {"requires_grad": False, "has_fp16_weights": packed.has_fp16_weights}
    return nn.Int8Params(plain, **options).to(packed.device)
