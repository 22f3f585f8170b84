"""Findings about the layers of bitsandbytes, each with the cases that come near it."""

from __future__ import annotations

import pytest

from patchkit.inspection.findings import Severity
from patchkit.inspection.hardware import Hardware


def layers(model):
    import bitsandbytes as bnb

    return [module for module in model.modules() if isinstance(module, bnb.nn.Linear4bit)]


def computing(model, compute, state=None):
    import torch

    for layer in layers(model):
        layer.compute_dtype = compute and getattr(torch, compute)
        layer.compute_type_is_set = compute is not None
        if state is not None:
            layer.weight.quant_state.dtype = getattr(torch, state)
    return model


CASES = {
    "float32 in fp16": ("float16", "fp16", "float32", "float32", {"compute-dtype-float32"}),
    "float32 in bf16": ("bfloat16", "bf16", "float32", "float32", {"compute-dtype-float32"}),
    "float32 where nothing was asked": ("float32", "", "float32", "float32", set()),
    "the other in fp16": ("float16", "fp16", "bfloat16", "bfloat16", {"compute-dtype-other"}),
    "the other in bf16": ("bfloat16", "bf16", "float16", "float16", {"compute-dtype-other"}),
    "another state": ("float16", "fp16", "float16", "bfloat16", {"quant-state-dtype"}),
    "another state, after a merge": ("bfloat16", "", "bfloat16", "float32", {"quant-state-dtype"}),
    "unset": ("bfloat16", "bf16", None, "bfloat16", {"compute-dtype-unset"}),
    "both": (
        "float16",
        "fp16",
        "bfloat16",
        "float32",
        {"compute-dtype-other", "quant-state-dtype"},
    ),
    "another compute dtype alone": (
        "float16",
        "fp16",
        "bfloat16",
        "float16",
        {"compute-dtype-other"},
    ),
    "all float16": ("float16", "fp16", "float16", "float16", set()),
    "all bfloat16": ("bfloat16", "bf16", "bfloat16", "bfloat16", set()),
    "no mixed precision": ("bfloat16", "", "bfloat16", "bfloat16", set()),
}


@pytest.mark.parametrize("case", CASES)
def test_dtypes_of_4bit_layers(make, look, case: str) -> None:
    dtype, precision, compute, state, expected = CASES[case]
    model = computing(make.lora(dtype, "4bit"), compute, state)
    findings = look(model, make.args(precision))
    assert set(findings.ids) == expected
    for finding in findings:
        assert finding.severity is Severity.WARNING
        assert "14 4-bit layers (base_model.model.model.layers.0.self_attn.q_proj" in finding.found


def test_as_the_libraries_load_it(make, look) -> None:
    """The default of BitsAndBytesConfig is float32."""
    import transformers

    from patchkit.lab import tiny

    path = tiny.build_causal_lm(make.folder / "model")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path,
        torch_dtype="bfloat16",
        quantization_config=transformers.BitsAndBytesConfig(load_in_4bit=True),
    )
    findings = look(model, make.args("bf16"))
    assert "compute-dtype-float32" in findings
    assert "quant-state-dtype" not in findings  # that one is right
    assert "bnb_4bit_compute_dtype=torch.bfloat16" in findings["compute-dtype-float32"].change


@pytest.mark.parametrize("layer_of", ["4bit", "8bit"])
@pytest.mark.parametrize(
    ("bias", "dtype", "precision", "expected"),
    [
        ("all", "bfloat16", "bf16", True),
        ("all", "float16", "fp16", True),
        ("all", "float32", "", False),
        ("none", "bfloat16", "bf16", False),
    ],
)
def test_trained_bias(make, look, layer_of, bias, dtype, precision, expected) -> None:
    config = {"attention_bias": True}
    model = make.lora(dtype, layer_of, bias=bias, config=config)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    findings = look(model, make.args(precision))
    assert ("quantized-bias-trained" in findings) is expected


@pytest.mark.parametrize(
    ("threshold", "dtype", "precision", "expected"),
    [
        (0.0, "bfloat16", "bf16", True),
        (0.0, "bfloat16", "", True),
        (0.0, "float16", "fp16", False),
        (6.0, "bfloat16", "bf16", False),
    ],
)
def test_int8_activations(make, look, threshold, dtype, precision, expected) -> None:
    model = make.lora(dtype, "8bit")
    for module in model.modules():
        if hasattr(module, "state"):
            module.state.threshold = threshold
    findings = look(model, make.args(precision))
    assert findings.ids == (["int8-activations"] if expected else [])
    assert all(finding.severity is Severity.NOTE for finding in findings)


@pytest.mark.parametrize(
    ("dtype", "precision", "device", "bias", "quantization", "expected"),
    [
        ("bfloat16", "", "cuda", False, "8bit", True),
        ("float16", "", "cuda", False, "8bit", True),
        ("bfloat16", "bf16", "cpu", False, "8bit", True),
        ("bfloat16", "bf16", "cuda", False, "8bit", False),
        ("bfloat16", "", "cuda", True, "8bit", False),
        ("bfloat16", "", "cuda", False, "none", False),
        ("float32", "", "cuda", False, "8bit", False),
    ],
)
def test_images_behind_8bit_layers(
    look,
    make,
    dtype: str,
    precision: str,
    device: str,
    bias: bool,
    quantization: str,
    expected: bool,
) -> None:
    import torch
    from bitsandbytes.nn import Linear8bitLt

    class Tower(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = Linear8bitLt if quantization == "8bit" else torch.nn.Linear
            self.patch_embed = torch.nn.ModuleDict({"proj": layer(16, 16, bias=bias)})
            self.norm = torch.nn.LayerNorm(16)

    model = torch.nn.ModuleDict({"vision": Tower()}).to(getattr(torch, dtype))
    findings = look(model, make.args(precision), hardware=Hardware(device))
    assert ("images-behind-eight-bits" in findings) is expected


def mixture_of_experts(make):
    import transformers
    from patchkit.patches.peft.kbit_fused_experts import TINY_MIXTRAL

    path = make.folder / "mixtral"
    if not path.exists():
        config = transformers.MixtralConfig(**TINY_MIXTRAL)
        transformers.MixtralForCausalLM(config).save_pretrained(path)
    return path


@pytest.mark.parametrize("quantization", ["4bit", "8bit", "none"])
def test_experts_that_are_not_quantized(make, look, quantization: str) -> None:
    import peft

    from patchkit.lab import tiny

    model = tiny.load(mixture_of_experts(make), quantization=quantization, dtype="bfloat16")
    fused = [parameter for parameter in model.parameters() if parameter.ndim > 2]
    findings = look(model, make.args("bf16"))
    assert ("experts-not-quantized" in findings) is bool(fused and quantization != "none")
    if "experts-not-quantized" not in findings:
        return
    one = findings["experts-not-quantized"]
    assert one.severity is Severity.WARNING
    # 4 experts of 3 matrices of 64 x 64, two bytes each.
    assert "2 tensors (2 bfloat16)" in one.found
    assert "of experts, 0.1 MiB, are not quantized" in one.found
    assert "float32" not in one.why
    peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    one = look(model, make.args("bf16"))["experts-not-quantized"]
    assert "of experts, 0.2 MiB, are not quantized" in one.found
    assert "0.1 MiB more than in bfloat16: peft.prepare_model" in one.why
    assert 'patchkit.apply(only="peft-kbit-fused-experts")' in one.change


def test_memory_in_words() -> None:
    from patchkit.inspection.wording import gibibytes

    assert gibibytes([2**20, 2**19]) == "1.5 MiB"
    assert gibibytes([2**30] * 28) == "28.0 GiB"
