"""A model in half precision while it generates, and as it was afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .borrowed import dtypes_given_back
from .parameters import is_plain_float
from .requested import training_dtype

if TYPE_CHECKING:
    import torch


@contextmanager
def half_precision_for_generation(model: torch.nn.Module, args: Any) -> Iterator[None]:
    """Give all parameters the dtype of the training for the length of a `with` block.

    Batched generation takes the dtype of its cache from the model and runs in a thread of its
    own, which autocast does not reach: the parameters themselves must have it. Afterwards each
    parameter holds the very tensor that it held before, bit for bit. Buffers, such as the
    frequencies of rotary embeddings, keep their dtype throughout, and so do gradients.

    Costs two bytes for each parameter that is cast, while generation lasts.

    Args:
        model: the model, not wrapped.
        args: the trainer's arguments; float32 training casts nothing.
    """
    import torch

    dtype = {"float16": torch.float16, "bfloat16": torch.bfloat16}.get(training_dtype(args) or "")
    if dtype is None:
        yield
        return
    with dtypes_given_back(model):
        for parameter in model.parameters():
            if is_plain_float(parameter) and parameter.dtype != dtype:
                parameter.data = parameter.data.to(dtype)
        yield
