"""Adapters that FSDP shards in units of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from patchkit.precision.autocast import is_autocast_on

if TYPE_CHECKING:
    import torch

_FULL_PRECISION = "FSDP_USE_FULL_PREC_IN_EVAL"
"""FSDP's variable: with "1" it computes in the dtype of the weights outside of training."""


def dtype_of_computation(layer: Any, x: torch.Tensor, dtype: torch.dtype) -> torch.dtype:
    """Return the dtype that the input of a layer's adapters must have.

    Args:
        layer: a PEFT layer.
        x: its input.
        dtype: the dtype of the weights of an adapter.

    Returns:
        where FSDP computes with another dtype than that of the weights, and no autocast is on, the
        dtype in which it computes; `dtype` elsewhere.
    """
    from torch.distributed.fsdp import FullyShardedDataParallel

    for adapter in _adapters(layer):
        if isinstance(adapter, FullyShardedDataParallel):
            full = not adapter.module.training and os.environ.get(_FULL_PRECISION) == "1"
            if full or is_autocast_on(x):
                return dtype
            return adapter.mixed_precision.param_dtype or dtype
    return dtype


def _adapters(layer: Any) -> Iterable[torch.nn.Module]:
    """Yield the modules of a layer's active adapters."""
    for name in layer.adapter_layer_names:
        kinds = getattr(layer, name, {})
        for active in layer.active_adapters:
            if active in kinds:
                yield kinds[active]
