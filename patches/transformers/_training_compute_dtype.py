"""The compute dtype of 4-bit layers in a training that runs in half precision."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from patchkit.authoring import requested_dtype
from patchkit.precision.loading import request_of
from patchkit.precision.quant_state import four_bit_layers
from patchkit.precision.requested import training_dtype
from patchkit.precision.threading_dtype import DtypeChanges

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("patchkit")

_UNCHOSEN = (None, "torch.float32")
"""Compute dtypes of a layer where nobody chose: `BitsAndBytesConfig` makes float32 of nothing."""


def after_trainer_init(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `Trainer.__init__`: model and arguments are known then, and there is no optimizer."""
    result = wrapped(*args, **kwargs)
    thread_for_training(getattr(instance, "model", None), getattr(instance, "args", None))
    return result


def thread_for_training(model: Any, args: Any) -> None:
    """Let 4-bit layers compute in the dtype of a training in half precision.

    Only their compute dtypes, their quant states and what the configuration says of them change,
    and only where a layer computes in another dtype. Nothing is done where the arguments ask for
    neither fp16 nor bf16 and `apply(dtype=…)` was not called.

    Args:
        model: what is trained, with or without adapters.
        args: the training arguments.
    """
    if training_dtype(args) is None or not hasattr(model, "named_modules"):
        return
    computes_in = {
        None if layer.compute_dtype is None else str(layer.compute_dtype)
        for _, layer in four_bit_layers(model)
    }
    if not computes_in:
        return
    target = _choose_dtype(model, args, computes_in)
    if target is None or computes_in == {f"torch.{target}"}:
        return
    summary = DtypeChanges(target).thread_quantized(model)
    if summary and getattr(args, "should_log", True):
        logger.warning(
            "patchkit: training is in %s, and 4-bit layers were to compute in %s; %s",
            training_dtype(args),
            ", ".join(sorted(str(dtype).removeprefix("torch.") for dtype in computes_in)),
            summary,
        )


def _choose_dtype(model: torch.nn.Module, args: Any, computes_in: set[str | None]) -> str | None:
    """Return the dtype of `apply(dtype=…)`, else the one requested at loading, else the arguments'.

    Of a model that was loaded before `apply()` it is not known what was asked for; a layer that
    computes in half precision was told so by someone, and is left alone.
    """
    if requested_dtype() is not None:
        return requested_dtype()
    request = request_of(model)
    if request is not None:
        return request.for_layers or training_dtype(args)
    return training_dtype(args) if computes_in.issubset(_UNCHOSEN) else None
