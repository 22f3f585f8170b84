"""Biases of quantized layers: trained ones keep their dtype, and all numbers stay the same."""

from __future__ import annotations

import itertools

import pytest
import torch
from bitsandbytes.nn import Linear4bit, Linear8bitLt

import patchkit

ONLY = "bitsandbytes-trainable-bias"
HALF = (torch.float16, torch.bfloat16)


def four_bit(compute: torch.dtype | None = None, **options):
    return Linear4bit(64, 64, compute_dtype=compute, quant_type="nf4", **options)


def eight_bit(**options):
    return Linear8bitLt(64, 64, has_fp16_weights=False, **options)


LAYERS = {
    "4-bit float16": (lambda: four_bit(torch.float16), torch.float16),
    "4-bit bfloat16": (lambda: four_bit(torch.bfloat16), torch.bfloat16),
    "4-bit float16, no compute dtype": (four_bit, torch.float16),
    "4-bit bfloat16, no compute dtype": (four_bit, torch.bfloat16),
    "8-bit float16": (eight_bit, torch.float16),
    "8-bit bfloat16": (eight_bit, torch.bfloat16),
}


def run(make, dtype: torch.dtype, *, training: bool = True, bias=torch.float32, trained=True):
    """One forward and backward: the layer afterwards, its output, and both gradients."""
    torch.manual_seed(0)
    layer = make().to("cpu").train(training)
    layer.bias.data = torch.linspace(-1, 1, 64, dtype=bias)
    layer.bias.requires_grad_(trained)
    inputs = torch.linspace(-2, 2, 3 * 64, dtype=dtype).reshape(1, 3, 64).requires_grad_()
    outputs = layer(inputs)
    outputs.float().pow(2).sum().backward()
    return layer, outputs.detach(), inputs.grad, layer.bias.grad


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluating"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_trained_float32_bias_stays_float32(name: str, training: bool) -> None:
    make, dtype = LAYERS[name]
    layer, *expected = run(make, dtype, training=training)
    assert layer.bias.dtype == layer.bias.grad.dtype == dtype
    with patchkit.patched(only=ONLY, strict=True):
        layer, *found = run(make, dtype, training=training)
    assert layer.bias.dtype == layer.bias.grad.dtype == torch.float32
    # The same numbers: of a gradient that upstream has in half precision, in float32.
    assert all(
        torch.equal(tensor, other.to(tensor.dtype))
        for tensor, other in zip(expected, found, strict=True)
    )
    assert found[-1].abs().sum() > 0


UNTOUCHED = {
    "frozen": {"trained": False},
    "frozen and evaluating": {"trained": False, "training": False},
    "float16 already": {"bias": torch.float16},
    "bfloat16 already": {"bias": torch.bfloat16},
}


@pytest.mark.parametrize("kind", UNTOUCHED)
def test_other_biases_end_up_as_before(kind: str) -> None:
    for make, dtype in itertools.product((lambda: four_bit(torch.float16), eight_bit), HALF):
        before = run(make, dtype, **UNTOUCHED[kind])
        with patchkit.patched(only=ONLY, strict=True):
            after = run(make, dtype, **UNTOUCHED[kind])
        assert before[0].bias.dtype == after[0].bias.dtype
        for tensor, other in zip(before[1:], after[1:], strict=True):
            assert tensor is other is None or torch.equal(tensor, other)


def test_a_half_precision_bias_is_widened_as_before() -> None:
    """A scaler could not unscale its gradient: what upstream does here must stay."""
    with patchkit.patched(only=ONLY, strict=True):
        for make in (eight_bit, lambda: four_bit(torch.float32)):
            layer, *_ = run(make, torch.float32, bias=torch.float16)
            assert layer.bias.dtype == layer.bias.grad.dtype == torch.float32


def test_layers_without_bias() -> None:
    with patchkit.patched(only=ONLY, strict=True):
        for layer in (four_bit(torch.float16, bias=False), eight_bit(bias=False)):
            assert layer.to("cpu")(torch.ones(2, 64, dtype=torch.float16)).dtype == torch.float16


def test_agreeing_dtypes_cost_no_copy() -> None:
    with patchkit.patched(only=ONLY, strict=True):
        layer = eight_bit().to("cpu")
        seen = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.dtype), lambda t: t):
            layer(torch.ones(2, 64)).sum()
        assert torch.float16 not in seen
        assert layer.bias.dtype == torch.float32


def test_small_updates_are_kept() -> None:
    def trained(steps: int = 20) -> float:
        layer = four_bit(torch.bfloat16).to("cpu")
        layer.bias.data.fill_(1.0)
        optimizer = torch.optim.SGD([layer.bias], lr=1e-3)
        for _ in range(steps):
            layer(torch.zeros(1, 64, dtype=torch.bfloat16)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        return layer.bias[0].item()

    assert trained() == 1.0
    with patchkit.patched(only=ONLY, strict=True):
        assert trained() == pytest.approx(0.98, abs=1e-6)


QLORA = """
    import tempfile, torch
    from pathlib import Path
    import patchkit
    from patchkit.lab import cuda_fp16, quantized, tiny
    {apply}
    tiny.go_offline()
    cuda_fp16.install()
    import peft, transformers
    with tempfile.TemporaryDirectory() as folder:
        config = transformers.LlamaConfig(
            vocab_size=32, hidden_size=64, intermediate_size=64, num_hidden_layers=1,
            num_attention_heads=2, attention_bias=True, mlp_bias=True,
        )
        transformers.LlamaForCausalLM(config).half().save_pretrained(folder)
        model = quantized.load(
            Path(folder), dtype="float16",
            quantization_config=quantized.configuration(4, compute_dtype="float16"),
        )
        model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
        model = peft.get_peft_model(model, peft.LoraConfig(bias="all", target_modules=["q_proj"]))
        ids = torch.arange(4, 20)
        data = [{{"input_ids": ids, "labels": ids}}] * 4
        arguments = transformers.TrainingArguments(
            folder, fp16=True, max_steps=2, report_to=[], save_strategy="no", disable_tqdm=True
        )
        biases = {{n: p for n, p in model.named_parameters() if n.endswith("bias")}}
        before = {{n: p.detach().clone() for n, p in biases.items()}}
        try:
            transformers.Trainer(model=model, args=arguments, train_dataset=data).train()
            result = [
                sorted({{str(p.dtype) for p in biases.values()}}),
                sum(not torch.equal(p, before[n]) for n, p in biases.items()) == len(biases) == 7,
            ]
        except Exception as error:
            result = str(error)
"""


def test_qlora_with_biases_in_fp16(forked) -> None:
    assert forked(QLORA.format(apply="")) == "Attempting to unscale FP16 gradients."
    apply = f"patchkit.apply(only='{ONLY}', strict=True)"
    assert forked(QLORA.format(apply=apply)) == [["torch.float32"], True]
