"""Restore a model whose tensors were cast for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@contextmanager
def restore_dtypes(model: torch.nn.Module) -> Iterator[None]:
    """Undo after a `with` block, and after an error in it, every cast made in between.

    A parameter, gradient or buffer whose dtype is another one afterwards holds the very tensor
    again that it held before, bit for bit; one that was moved to another device meanwhile holds a
    copy of it there. What kept its dtype is not touched, and parameters stay the same objects, so
    an optimizer does not notice.

    While the block lasts, what is cast takes the memory of both.

    Args:
        model: the model, wrapped or not.
    """
    originals = list(_tensors(model))
    buffers = [
        (module._buffers, name, buffer)
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None and buffer.is_floating_point()
    ]
    try:
        yield
    finally:
        for tensor, data in originals:
            if tensor.dtype != data.dtype:
                tensor.data = data.to(tensor.device)
        for names, name, buffer in buffers:
            current = names.get(name)
            if current is not None and current.dtype != buffer.dtype:
                names[name] = buffer.to(current.device)


def _tensors(model: torch.nn.Module) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for parameter in model.parameters():
        for tensor in (parameter, parameter.grad):
            if tensor is not None and tensor.is_floating_point():
                yield tensor, tensor.data
