"""Restore a model whose tensors were cast for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@contextmanager
def restore_dtypes(model: torch.nn.Module) -> Iterator[None]:
    """Undo at the end of a `with` block, also after an error, every cast made in it.

    A parameter, gradient or buffer whose dtype the block changed gets back the very tensor that it
    held before, bit for bit; if it was moved to another device meanwhile, a copy of it there. A
    tensor that kept its dtype is not touched, and parameters stay the same objects, so an
    optimizer does not notice.

    During the block a cast tensor takes the memory of both.
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
