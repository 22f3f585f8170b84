"""FlashAttention: in float32 its kernel refuses; here a stand-in for the kernel does, as it does."""

from __future__ import annotations

from typing import Any

import pytest

from patchkit.inspection.hardware import Hardware

from .conftest import assert_explained

T4 = Hardware("cuda", "Tesla T4", (7, 5), bfloat16=False)
REFUSES = "FlashAttention only support fp16 and bf16 data type"


def with_flash(model):
    model.config._attn_implementation = "flash_attention_2"
    return model


@pytest.fixture
def kernel(monkeypatch) -> None:
    """Transformers' own path to FlashAttention, down to a kernel that computes by SDPA."""
    import torch
    from transformers import modeling_flash_attention_utils as utils

    def flash_attn_func(query, key, value, dropout_p=0.0, softmax_scale=None, causal=False, **_):
        if query.dtype not in (torch.float16, torch.bfloat16):
            raise RuntimeError(REFUSES)
        turned = (tensor.transpose(1, 2) for tensor in (query, key, value))
        found = torch.nn.functional.scaled_dot_product_attention(
            *turned, is_causal=causal, scale=softmax_scale, enable_gqa=True
        )
        return found.transpose(1, 2)

    def process(**_: Any) -> dict[str, Any]:
        return {"causal": True}

    with_cache = [None] if hasattr(utils, "_flash_with_kvcache_fn") else []
    padding = (utils._pad_input, utils._unpad_input)
    functions = (flash_attn_func, flash_attn_func, *with_cache, *padding)
    paged = hasattr(utils, "_process_with_kvcache_kwargs_fn")
    made = (functions, (process, process) if paged else process)
    monkeypatch.setattr(utils, "lazy_import_flash_attention", lambda *_, **__: made)


CASES = {
    "float32": (lambda m: m.lora("float32"), "", True),
    "float32 under autocast": (lambda m: m.lora("float32"), "bf16", False),
    "bfloat16, float32 adapters": (lambda m: m.lora("bfloat16"), "", False),
    "float32, all of it": (lambda m: m.model("float32"), "", True),
}


@pytest.mark.parametrize("case", CASES)
def test_in_float32(make, look, kernel, monkeypatch, case: str) -> None:
    import torch

    build, precision, doomed = CASES[case]
    model = build(make)
    assert "flash-attention-in-float32" not in look(model, make.args(precision))
    with_flash(model)
    findings = look(model, make.args(precision))
    assert ("flash-attention-in-float32" in findings) is doomed
    ids = torch.arange(4, 20)[None]
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        # Transformers 4 asks for a GPU's autocast only.
        monkeypatch.setattr(torch, "is_autocast_enabled", lambda *_: precision == "bf16")
        monkeypatch.setattr(torch, "get_autocast_gpu_dtype", lambda: torch.bfloat16)
        try:
            model(input_ids=ids, labels=ids).loss.backward()
            raised = ""
        except RuntimeError as error:
            raised = f"RuntimeError: {error}"
    assert (REFUSES in raised) is doomed, raised
    if doomed:
        assert REFUSES in findings["flash-attention-in-float32"].why
        assert_explained(raised, "flash-attention-in-float32")


def test_on_an_old_gpu(make, look) -> None:
    model = make.lora("float16")
    assert "flash-attention-unsupported" not in look(model, make.args(""), hardware=T4)
    with_flash(model)
    assert "flash-attention-unsupported" not in look(model, make.args(""))
    error = look(model, make.args(""), hardware=T4)["flash-attention-unsupported"]
    assert "capability 7.5" in error.found
    assert_explained("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", error.id)
