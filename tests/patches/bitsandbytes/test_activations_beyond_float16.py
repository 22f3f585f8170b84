"""8-bit layers and rows that float16 cannot hold."""

from __future__ import annotations

import pytest
import torch
from bitsandbytes.nn import Linear8bitLt

import patchkit

ONLY = "bitsandbytes-8bit-overflow"


def layer(threshold: float = 0.0) -> Linear8bitLt:
    torch.manual_seed(0)
    made = Linear8bitLt(64, 32, has_fp16_weights=False, threshold=threshold)
    made.bias.data.zero_()
    return made.to("cpu").eval()


def rows(dtype: torch.dtype, scale: float = 1.0, shape: tuple[int, ...] = (4, 64)) -> torch.Tensor:
    torch.manual_seed(1)
    return (torch.randn(shape) * scale).to(dtype)


@pytest.mark.parametrize("shape", [(1, 64), (4, 64), (2, 2, 64)])
@pytest.mark.parametrize(
    ("dtype", "exponent"),
    [(torch.bfloat16, 16), (torch.bfloat16, 60), (torch.float32, 17), (torch.float32, 100)],
)
def test_as_a_smaller_row_scaled_up(dtype, exponent: int, shape: tuple[int, ...]) -> None:
    small = rows(dtype, shape=shape)
    large = small * 2.0**exponent
    with torch.no_grad():
        expected = layer()(small) * 2.0**exponent
        assert not layer()(large).isfinite().all()
        with patchkit.patched(only=ONLY, strict=True):
            found = layer()(large)
    assert found.isfinite().all()
    assert found.dtype == dtype
    assert torch.equal(found, expected)


def test_rows_in_range_are_not_changed_by_one_beside_them() -> None:
    mixed = rows(torch.bfloat16)
    mixed[2] *= 2.0**20
    with torch.no_grad():
        expected = layer()(rows(torch.bfloat16))
        with patchkit.patched(only=ONLY, strict=True):
            found = layer()(mixed)
    others = [0, 1, 3]
    assert torch.equal(found[others], expected[others])
    assert found[2].isfinite().all()


def infinite() -> torch.Tensor:
    special = rows(torch.bfloat16)
    special[0, 3], special[1, 5], special[2] = float("inf"), float("nan"), 0
    return special


SAME = {
    "bfloat16": lambda: (layer(), rows(torch.bfloat16)),
    "float32": lambda: (layer(), rows(torch.float32)),
    "float16": lambda: (layer(), rows(torch.float16, 1e4)),
    "at the edge": lambda: (layer(), rows(torch.float32).clamp(-1, 1) * 65504),
    "tiny": lambda: (layer(), rows(torch.bfloat16, 1e-6)),
    "zeros, infinity and NaN": lambda: (layer(), infinite()),
    "outliers": lambda: (layer(6.0), rows(torch.bfloat16, 2.0)),
    "outliers beyond the range": lambda: (layer(6.0), rows(torch.bfloat16, 1e6)),
    "no rows": lambda: (layer(), rows(torch.bfloat16)[:0]),
}


@pytest.mark.parametrize("name", SAME)
def test_bit_for_bit_the_same(name: str) -> None:
    def run() -> torch.Tensor:
        made, given = SAME[name]()
        with torch.no_grad():
            return made(given)

    before = run()
    with patchkit.patched(only=ONLY, strict=True):
        after = run()
    torch.testing.assert_close(after, before, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", SAME)
def test_what_the_kernel_is_given(name: str) -> None:
    """Kernels differ in what they make of infinity, and of rows with outliers: it is up to them."""
    from patchkit.patches.bitsandbytes._int8_rows import quantize_rows

    made, given = SAME[name]()
    seen = []

    def quantize(rows: torch.Tensor, threshold: float):
        seen.append((rows, threshold))
        return rows, torch.ones(len(rows)), None

    _, scales, _ = quantize_rows(quantize, given, made.state.threshold)
    ((rows, threshold),) = seen
    torch.testing.assert_close(rows, given.half(), rtol=0, atol=0, equal_nan=True)
    assert threshold == made.state.threshold
    assert torch.equal(scales, torch.ones(len(given)))


def test_gradients() -> None:
    def gradient(scale: float) -> torch.Tensor:
        given = rows(torch.bfloat16, scale).requires_grad_()
        layer()(given).float().sum().backward()
        return given.grad

    expected = gradient(1.0)
    with patchkit.patched(only=ONLY, strict=True):
        assert torch.equal(gradient(2.0**20), expected)
