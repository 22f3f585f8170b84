"""FNet, MRA, YOSO and Autoformer, which compute a part of their attention in float32."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

import patchkit

from ..due import only_if_due

ID = "transformers-float32-attention"
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]
SIZES = dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size"), 32)
ROUNDING = 0.05
WORDS = torch.arange(32).reshape(1, 32)


def make(family: str, **options: Any) -> Any:
    config = getattr(transformers, f"{family}Config")(
        **SIZES, num_hidden_layers=1, max_position_embeddings=32, **options
    )
    torch.manual_seed(0)
    return getattr(transformers, f"{family}Model")(config).eval()


def mra() -> Any:
    model = make("Mra", num_attention_heads=2, block_per_row=1)
    if not hasattr(transformers.models.mra.modeling_mra, "mra_cuda_kernel"):
        pytest.skip("it runs on kernels only")
    return model


def hidden(model: Any) -> torch.Tensor:
    ones = torch.ones_like(WORDS)
    result: torch.Tensor = model(input_ids=WORDS, attention_mask=ones).last_hidden_state
    return result


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_fnet_transforms_in_float32(dtype: torch.dtype) -> None:
    model = make("FNet")
    with torch.no_grad():
        expected = model(input_ids=WORDS).last_hidden_state
        with pytest.raises(RuntimeError, match="Unsupported dtype"):
            model.to(dtype)(input_ids=WORDS)
        with patchkit.patched(only=ID, strict=True):
            found = model(input_ids=WORDS).last_hidden_state
    assert found.dtype == dtype
    assert (found - expected).norm() < ROUNDING * expected.norm()


def test_fnet_under_autocast_of_a_cpu() -> None:
    model = make("FNet").bfloat16()
    with patchkit.patched(only=ID, strict=True), torch.autocast("cpu", torch.bfloat16):
        model(input_ids=WORDS).last_hidden_state.sum().backward()
    assert all(weight.grad is not None for weight in model.encoder.layer.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_fnet_in_full_precision_computes_as_before(dtype: torch.dtype) -> None:
    model = make("FNet").to(dtype)
    with torch.no_grad():
        expected = model(input_ids=WORDS).last_hidden_state
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(model(input_ids=WORDS).last_hidden_state, expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_mra_hands_on_the_dtype_of_its_input(dtype: torch.dtype) -> None:
    model = mra()
    with torch.no_grad():
        expected = hidden(model)
        with pytest.raises(RuntimeError, match="must have the same dtype"):
            hidden(model.to(dtype))
        with patchkit.patched(only=ID, strict=True):
            found = hidden(model)
    assert found.dtype == dtype
    assert (found - expected).norm() < ROUNDING * expected.norm()


def test_mra_in_float32_computes_as_before() -> None:
    model = mra()
    with torch.no_grad():
        expected = hidden(model)
        with patchkit.patched(only=ID, strict=True):
            assert torch.equal(hidden(model), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_autoformer_adds_up_in_float32(dtype: torch.dtype) -> None:
    from transformers.models.autoformer.modeling_autoformer import AutoformerAttention

    torch.manual_seed(0)
    layer = AutoformerAttention(16, 2).eval()
    states, given = torch.randn(1, 4, 16), torch.randn(1, 6, 16)
    with torch.no_grad():
        for read in ({}, {"key_value_states": given}, {"key_value_states": given[:, :2]}):
            expected = layer.float()(states, **read)[0]
            layer.to(dtype)
            half = {name: value.to(dtype) for name, value in read.items()}
            if dtype is torch.bfloat16:
                with pytest.raises(RuntimeError, match="Unsupported dtype"):
                    layer(states.to(dtype), **half)
            with patchkit.patched(only=ID, strict=True):
                found = layer(states.to(dtype), **half)[0]
            assert found.dtype == dtype
            near = torch.equal if dtype is torch.float32 else _is_near
            assert near(found, expected)


def _is_near(found: torch.Tensor, expected: torch.Tensor) -> bool:
    return bool((found - expected).norm() < ROUNDING * expected.norm())


def gradients(*, autocast: bool, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    """Return the gradients of YOSO's expectation, of queries, keys and values."""
    from transformers.models.yoso.modeling_yoso import YosoCumulation

    torch.manual_seed(0)
    units = torch.nn.functional.normalize(torch.randn(3, 2, 8, 16), dim=-1)
    query, key, value = (part.to(dtype).requires_grad_() for part in units)
    mask = torch.ones(2, 8, dtype=torch.float32 if autocast else dtype)
    with torch.autocast("cpu", torch.float16, enabled=autocast):
        halves = (part.half() if autocast else part for part in (query, key, value))
        result = YosoCumulation.apply(mask, mask, *halves, {"hash_code_len": 4})
    result.float().pow(2).sum().backward()
    return [part.grad.float() for part in (query, key, value) if part.grad is not None]


def test_yoso_goes_backward_after_autocast() -> None:
    expected = gradients(autocast=False)
    with pytest.raises(RuntimeError, match=r"dtype|scalar type"):
        gradients(autocast=True)
    with patchkit.patched(only=ID, strict=True):
        found = gradients(autocast=True)
    assert len(found) == len(expected) == 3
    for half, full in zip(found, expected, strict=True):
        assert (half - full).norm() < ROUNDING * full.norm()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_yoso_of_one_dtype_computes_as_before(dtype: torch.dtype) -> None:
    expected = gradients(autocast=False, dtype=dtype)
    with patchkit.patched(only=ID, strict=True):
        found = gradients(autocast=False, dtype=dtype)
    assert all(map(torch.equal, found, expected))
