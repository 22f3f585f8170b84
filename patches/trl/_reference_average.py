"""Moving averages of weights that are kept in half precision."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from patchkit.precision.parameters import is_plain_float

if TYPE_CHECKING:
    import torch

_averages: MutableMapping[torch.Tensor, _Average] | None = None


class _Average:
    """A float32 average, and the state of its tensor when it was last written there."""

    def __init__(self, target: torch.Tensor) -> None:
        self.value = target.data.float()
        self.written = _state(target)


def move_towards(target: torch.Tensor, source: torch.Tensor, alpha: float) -> None:
    """Move a parameter a share of the way towards another one, in place.

    A half-precision target that moves by half of the way or less has an average in float32,
    which lives as long as it does, and starts again when other code has written to the target.

    Args:
        target: of a reference model.
        source: of the model that is trained.
        alpha: the share, from 0 to 1.
    """
    if alpha > 0.5 or not _loses_small_steps(target):
        target.data.mul_(1.0 - alpha).add_(source.data, alpha=alpha)
        return
    averages = _known_averages()
    average = averages.get(target)
    if average is None or average.written != _state(target):
        average = averages[target] = _Average(target)
    average.value.mul_(1.0 - alpha).add_(source.data, alpha=alpha)
    target.data.copy_(average.value)
    average.written = _state(target)


def _known_averages() -> MutableMapping[torch.Tensor, _Average]:
    global _averages
    if _averages is None:
        from torch.utils.weak import WeakTensorKeyDictionary

        _averages = WeakTensorKeyDictionary()
    return _averages


def _loses_small_steps(target: torch.Tensor) -> bool:
    import torch

    half = target.dtype in (torch.float16, torch.bfloat16)
    # A parameter that DeepSpeed has gathered for the moment has no storage of its own.
    return half and is_plain_float(target) and not hasattr(target, "ds_id")


def _state(target: torch.Tensor) -> tuple[int, int]:
    return target.data_ptr(), target._version
