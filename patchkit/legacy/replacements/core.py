"""Functions of `trl.core`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

WANDB_PADDING = -1


class LengthSampler:
    """Draw a length, with NumPy's random numbers."""

    def __init__(self, min_value: int, max_value: int) -> None:
        self.values = list(range(min_value, max_value))

    def __call__(self) -> int:
        import numpy

        drawn: int = numpy.random.choice(self.values)
        return drawn


def flatten_dict(nested: Mapping[str, Any], sep: str = "/") -> dict[str, Any]:
    """Join the keys of dictionaries in dictionaries.

    Args:
        nested: a dictionary.
        sep: stands between keys; no key may have it.
    """
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        if sep in key:
            raise ValueError(f"separator '{sep}' not allowed to be in key '{key}'")
        if isinstance(value, Mapping):
            flat.update({f"{key}{sep}{k}": v for k, v in flatten_dict(value, sep).items()})
        else:
            flat[key] = value
    return flat


def stack_dicts(stats_dicts: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Put tensors of the same key one below the other, filled up with `WANDB_PADDING`."""
    return {
        key: torch.nn.utils.rnn.pad_sequence(
            [stats[key].flatten() for stats in stats_dicts],
            batch_first=True,
            padding_value=WANDB_PADDING,
        )
        for key in stats_dicts[0]
    }


def logprobs_from_logits(
    logits: torch.Tensor, labels: torch.Tensor, gather: bool = True
) -> torch.Tensor:
    """Return the logarithms of the probabilities of labels.

    Args:
        logits: rows, places and vocabulary.
        labels: rows and places.
        gather: take those of the labels; else return them for the whole vocabulary.
    """
    logarithms = torch.log_softmax(logits, dim=2)
    if not gather:
        return logarithms
    return logarithms.gather(2, labels.unsqueeze(2)).squeeze(-1)


def masked_mean(values: torch.Tensor, mask: torch.Tensor, axis: int | None = None) -> torch.Tensor:
    """Return the mean of the values that a mask lets through."""
    if axis is None:
        return (values * mask).sum() / mask.sum()
    return (values * mask).sum(dim=axis) / mask.sum(dim=axis)


def masked_var(values: torch.Tensor, mask: torch.Tensor, unbiased: bool = True) -> torch.Tensor:
    """Return the variance of the values that a mask lets through."""
    variance = masked_mean((values - masked_mean(values, mask)) ** 2, mask)
    if not unbiased:
        return variance
    number = mask.sum()
    if number == 0:
        raise ValueError("The sum of the mask is zero; try a larger mini_batch_size")
    return variance * number / (number - 1)


def masked_whiten(
    values: torch.Tensor, mask: torch.Tensor, shift_mean: bool = True
) -> torch.Tensor:
    """Bring the values that a mask lets through to mean 0 and variance 1."""
    mean = masked_mean(values, mask)
    whitened = (values - mean) * torch.rsqrt(masked_var(values, mask) + 1e-8)
    return whitened if shift_mean else whitened + mean


def whiten(values: torch.Tensor, shift_mean: bool = True) -> torch.Tensor:
    """Bring values to mean 0 and variance 1."""
    mean = values.mean()
    whitened = (values - mean) * torch.rsqrt(values.var() + 1e-8)
    return whitened if shift_mean else whitened + mean


def clip_by_value(x: torch.Tensor, tensor_min: Any, tensor_max: Any) -> torch.Tensor:
    """Keep values between two bounds, which may be tensors."""
    return torch.max(torch.min(x, tensor_max), tensor_min)


def top_k_top_p_filtering(
    logits: torch.Tensor,
    top_k: int = 0,
    top_p: float = 1.0,
    filter_value: float = float("-inf"),
    min_tokens_to_keep: int = 1,
) -> torch.Tensor:
    """Take from logits all but the best tokens.

    Args:
        logits: rows and vocabulary.
        top_k: how many tokens are left; 0 for all.
        top_p: tokens are left until their probabilities reach this sum.
        filter_value: the logit of other tokens.
        min_tokens_to_keep: so many tokens are left at least.
    """
    from transformers import TopKLogitsWarper, TopPLogitsWarper

    ids: Any = None  # neither looks at them
    if top_k > 0:
        logits = TopKLogitsWarper(top_k, filter_value, min_tokens_to_keep)(ids, logits)
    if 0 <= top_p < 1:
        logits = TopPLogitsWarper(top_p, filter_value, min_tokens_to_keep)(ids, logits)
    return logits
