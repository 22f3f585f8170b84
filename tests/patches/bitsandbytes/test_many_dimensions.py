"""8-bit layers and activations of one to five dimensions."""

from __future__ import annotations

import pytest
import torch
from bitsandbytes.nn import Linear8bitLt

import patchkit

ONLY = "bitsandbytes-8bit-dimensions"
SHAPES = [(2, 3, 4, 64), (1, 1, 1, 64), (2, 1, 2, 3, 64)]


def layer(threshold: float) -> Linear8bitLt:
    torch.manual_seed(0)
    return Linear8bitLt(64, 32, has_fp16_weights=False, threshold=threshold).to("cpu")


def numbers(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    torch.manual_seed(1)
    drawn = torch.randn(shape)
    drawn[..., 5] *= 20  # a column of outliers
    return drawn.to(dtype)


def gradient(made: Linear8bitLt, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what a layer makes of the inputs, and the gradient at them."""
    inputs = inputs.clone().requires_grad_()
    outputs = made(inputs)
    outputs.float().square().sum().backward()
    assert inputs.grad is not None
    return outputs.detach(), inputs.grad


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threshold", [0.0, 6.0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_as_a_matrix(shape: tuple[int, ...], threshold: float, dtype: torch.dtype) -> None:
    inputs = numbers(*shape, dtype=dtype)
    made = layer(threshold).requires_grad_(False).eval()
    matrix, at_matrix = gradient(made, inputs.reshape(-1, 64))
    with patchkit.patched(only=ONLY, strict=True):
        outputs, at_inputs = gradient(made, inputs)
    assert outputs.shape == (*shape[:-1], 32)
    assert torch.equal(outputs.reshape(-1, 32), matrix)
    assert torch.equal(at_inputs.reshape(-1, 64), at_matrix)


@pytest.mark.parametrize("threshold", [0.0, 6.0])
def test_refused_without_it(threshold: float) -> None:
    made = layer(threshold).requires_grad_(False).eval()
    with pytest.raises(RuntimeError, match=r"must match the size|view size is not compatible"):
        made(numbers(2, 3, 4, 64))


@pytest.mark.parametrize("shape", [(4, 64), (2, 3, 64)])
@pytest.mark.parametrize("training", [False, True])
def test_nothing_changes_up_to_three_dimensions(shape: tuple[int, ...], training: bool) -> None:
    made = layer(6.0).requires_grad_(False).train(training)
    expected = gradient(made, numbers(*shape))
    with patchkit.patched(only=ONLY, strict=True):
        found = gradient(made, numbers(*shape))
    assert all(map(torch.equal, found, expected))
