"""Rows of activations as 8-bit numbers and scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def quantize_rows(quantize: Callable[..., Any], rows: torch.Tensor, threshold: float) -> Any:
    """Quantize as bitsandbytes' `int8_vectorwise_quant`, also rows beyond float16's range.

    The kernels take float16. A row with a larger number is divided by a power of two beforehand,
    and its scale multiplied by it. Rows in range, and rows with infinities or NaN, are left as
    they are; so is all of it where outliers are kept apart, since large numbers are outliers then.

    Args:
        quantize: `int8_vectorwise_quant`.
        rows: activations, one row for each token.
        threshold: from which number on a column is an outlier; 0.0 for none.

    Returns:
        the 8-bit rows, their scales in float32, and the columns with outliers.
    """
    import torch

    if threshold > 0.0 or rows.dtype == torch.float16:
        return quantize(rows.to(torch.float16), threshold=threshold)
    largest = rows.abs().amax(dim=-1, keepdim=True).float()
    # No branch on the values: on a GPU that would wait for them.
    exponent = (largest / torch.finfo(torch.float16).max).log2().ceil().clamp(min=0)
    factor = torch.where(largest.isfinite(), exponent, 0).exp2()
    scaled = (rows / factor.to(rows.dtype)).to(torch.float16)
    quantized, scales, outliers = quantize(scaled, threshold=threshold)
    return quantized, scales * factor.view(-1).to(scales.dtype), outliers
