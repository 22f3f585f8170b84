"""One dtype through a model in memory: what follows it, and what keeps its own."""

from __future__ import annotations

import copy
import dataclasses
import types
from pathlib import Path

import pytest
import torch

import patchkit
from patchkit.lab import quantized, tiny

tiny.go_offline()

import bitsandbytes as bnb  # noqa: E402
import peft  # noqa: E402
import transformers  # noqa: E402

HALVES = (torch.float16, torch.bfloat16)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    plain = tiny.build_causal_lm(folder / "plain", dtype="bfloat16")
    options = {"4bit": {}, "double": {"bnb_4bit_use_double_quant": True}, "8bit": {"bits": 8}}
    made = {
        name: quantized.save(plain, folder / name, dtype="bfloat16", **given)
        for name, given in options.items()
    }
    return {"plain": plain, **made}


def load(folder: Path, dtype: str = "bfloat16"):
    return quantized.load(folder, dtype=dtype)


def layers(model):
    return [module for module in model.modules() if isinstance(module, bnb.nn.Linear4bit)]


def weights(model):
    """Dtypes of all parameters that are not packed, by name."""
    packed = {id(layer.weight) for layer in layers(model)}
    return {
        name: parameter.dtype
        for name, parameter in model.named_parameters()
        if id(parameter) not in packed and parameter.is_floating_point()
    }


def config_dtype(model):
    config = model.config
    return getattr(config, "dtype", None) or config.torch_dtype


@pytest.mark.parametrize("dtype", [torch.float16, "fp16", "half", torch.float32])
@pytest.mark.parametrize("kind", ["4bit", "double"])
def test_all_of_a_four_bit_model(saved, kind: str, dtype) -> None:
    model = load(saved[kind])
    wanted = dtype if isinstance(dtype, torch.dtype) else torch.float16
    before = quantized.packed_bytes(model)
    scales = [layer.weight.quant_state.absmax.clone() for layer in layers(model)]
    inner = [layer.weight.quant_state.state2 for layer in layers(model)]
    objects = {name: id(parameter) for name, parameter in model.named_parameters()}
    rotary = {name: buffer.clone() for name, buffer in model.named_buffers()}

    summary = patchkit.thread_dtype(model, dtype)

    assert {layer.compute_dtype for layer in layers(model)} == {wanted}
    assert all(layer.compute_type_is_set for layer in layers(model))
    assert {layer.weight.quant_state.dtype for layer in layers(model)} == {wanted}
    assert set(weights(model).values()) == {wanted}
    assert config_dtype(model) == wanted
    assert model.config.quantization_config.bnb_4bit_compute_dtype == wanted
    after = quantized.packed_bytes(model)
    assert all(torch.equal(before[name], after[name]) for name in before)
    for layer, absmax, state in zip(layers(model), scales, inner, strict=True):
        assert torch.equal(layer.weight.quant_state.absmax, absmax)
        assert layer.weight.quant_state.state2 is state
        # The inner state's dtype is that of the scales.
        assert state is None or state.dtype == torch.float32
    assert {name: id(parameter) for name, parameter in model.named_parameters()} == objects
    assert all(torch.equal(buffer, rotary[name]) for name, buffer in model.named_buffers())
    assert summary
    assert len(summary.compute_dtypes) == len(summary.quant_states) == 14
    assert set(summary.parameters) == set(weights(model))
    assert "14 compute dtypes: model.layers.0.self_attn.q_proj" in str(summary)

    again = patchkit.thread_dtype(model, dtype)
    assert not again
    assert not again.counts
    assert str(again) == f"{str(wanted)[6:]} throughout: nothing to change"


def test_it_computes_in_that_dtype(saved) -> None:
    model = load(saved["double"])
    ids = torch.arange(4, 20)[None]
    with torch.no_grad():
        expected = model.train()(ids).logits
        patchkit.thread_dtype(model, "fp16")
        found = model(ids).logits
    assert found.dtype == torch.float16
    assert torch.allclose(found.float(), expected.float(), atol=0.1)


def test_a_summary_is_frozen(saved) -> None:
    summary = patchkit.thread_dtype(load(saved["4bit"]), "fp16")
    assert isinstance(summary, patchkit.ThreadedDtype)
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.dtype = "bfloat16"  # type: ignore[misc]


def test_adapters_and_what_is_trained_beside_them_keep_theirs(saved) -> None:
    config = peft.LoraConfig(
        r=2, target_modules=["q_proj", "v_proj"], modules_to_save=["lm_head"], bias="none"
    )
    model = peft.get_peft_model(load(saved["4bit"]), config)
    model.add_adapter("frozen", peft.LoraConfig(r=2, target_modules=["q_proj"]))
    norm = model.base_model.model.model.norm.weight.requires_grad_(True)
    kept = {
        name: parameter.dtype
        for name, parameter in model.named_parameters()
        if "lora_" in name or "modules_to_save" in name
    }
    patchkit.thread_dtype(model, torch.float16)
    now = dict(model.named_parameters())
    assert {name: now[name].dtype for name in kept} == kept
    assert {now[name].dtype for name in kept if "lora_" in name} == {torch.float32}
    assert norm.dtype == torch.bfloat16
    assert {layer.compute_dtype for layer in layers(model)} == {torch.float16}
    assert model.base_model.model.model.embed_tokens.weight.dtype == torch.float16


@pytest.mark.parametrize("storage", [torch.uint8, *HALVES, torch.float32], ids=str)
def test_packed_weights_whatever_they_are_stored_in(storage: torch.dtype) -> None:
    layer = bnb.nn.Linear4bit(64, 64, compute_dtype=torch.bfloat16, quant_storage=storage)
    model = torch.nn.Sequential(layer.to("cpu"))
    layer.bias.data = layer.bias.data.to(torch.bfloat16)
    packed = layer.weight.data.clone().view(torch.uint8)
    patchkit.thread_dtype(model, torch.float16)
    assert layer.weight.dtype == storage
    assert torch.equal(layer.weight.data.view(torch.uint8), packed)
    assert layer.bias.dtype == torch.float16


def test_a_packed_weight_that_fsdp_made_a_plain_parameter() -> None:
    layer = bnb.nn.Linear4bit(64, 64, bias=False, quant_storage=torch.bfloat16).to("cpu")
    state = layer.quant_state = layer.weight.quant_state
    layer.weight = torch.nn.Parameter(layer.weight.data.clone(), requires_grad=False)
    packed = layer.weight.data.clone().view(torch.uint8)
    patchkit.thread_dtype(torch.nn.Sequential(layer), torch.float16)
    assert layer.weight.dtype == torch.bfloat16
    assert torch.equal(layer.weight.data.view(torch.uint8), packed)
    assert state.dtype == torch.float16


def test_eight_bit_layers(saved) -> None:
    model = load(saved["8bit"])
    eight = [module for module in model.modules() if isinstance(module, bnb.nn.Linear8bitLt)]
    before = [(layer.weight.data.clone(), layer.weight.SCB.clone()) for layer in eight]
    summary = patchkit.thread_dtype(model, torch.float16)
    for layer, (packed, scales) in zip(eight, before, strict=True):
        assert torch.equal(layer.weight.data, packed)
        assert torch.equal(layer.weight.SCB, scales)
        assert layer.weight.SCB.dtype == torch.float32
    assert set(weights(model).values()) == {torch.float16}
    assert not summary.compute_dtypes
    assert not summary.quant_states


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("nested", [False, True])
def test_quant_states_of_old_releases_are_lists(kind: type, nested: bool) -> None:
    layer = bnb.nn.Linear4bit(64, 64, compress_statistics=nested).to("cpu")
    state = layer.weight.quant_state
    inner = [state.absmax, state.code, 256, False, torch.float32, None, None]
    old = kind(
        [
            state.absmax,
            state.shape,
            torch.bfloat16,
            64,
            [torch.zeros(()), inner] if nested else None,
            "nf4",
            state.code,
        ]
    )
    layer.weight.quant_state = layer.quant_state = old
    summary = patchkit.thread_dtype(torch.nn.Sequential(layer), "fp16")
    assert layer.weight.quant_state is layer.quant_state
    assert layer.weight.quant_state[2] == torch.float16
    assert list(layer.weight.quant_state[3:]) == list(old[3:])
    assert inner[4] == torch.float32
    assert summary.quant_states == ("0",)
    assert not patchkit.thread_dtype(torch.nn.Sequential(layer), "fp16")


def test_a_compute_dtype_that_was_never_set() -> None:
    layer = bnb.nn.Linear4bit(64, 64).to("cpu")
    assert not layer.compute_type_is_set
    patchkit.thread_dtype(torch.nn.Sequential(layer), "bf16")
    layer(torch.zeros(1, 64))
    assert layer.compute_dtype == torch.bfloat16


def test_a_layer_that_the_cpu_has_repacked(saved) -> None:
    model = load(saved["4bit"]).eval()
    ids = torch.arange(4, 20)[None]
    with torch.no_grad():
        model(ids)
        states = [layer.weight.quant_state for layer in layers(model)]
        if not getattr(states[0], "packing_format_for_cpu", False):
            pytest.skip("this CPU, or this bitsandbytes, does not repack")
        patchkit.thread_dtype(model, "fp16")
        assert {state.dtype for state in states} == {torch.bfloat16}
        assert {state.original_dtype for state in states} == {torch.float16}
        assert model(ids).logits.isfinite().all()


def t5(dtype: torch.dtype):
    config = transformers.T5Config(
        vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2
    )
    model = transformers.T5ForConditionalGeneration(config).to(dtype)
    config.dtype = config.torch_dtype = dtype
    return model


@pytest.mark.parametrize(
    ("start", "wanted", "wo"),
    [
        (torch.bfloat16, torch.float16, torch.float32),
        (torch.float16, torch.bfloat16, torch.bfloat16),
    ],
    ids=str,
)
def test_modules_kept_in_float32(start, wanted, wo) -> None:
    model = t5(start)
    summary = patchkit.thread_dtype(model, wanted)
    dtypes = weights(model)
    assert {dtype for name, dtype in dtypes.items() if ".wo." in name} == {wo}
    assert {dtype for name, dtype in dtypes.items() if ".wo." not in name} == {wanted}
    assert len(summary.kept_float32) == (2 if wo == torch.float32 else 0)
    assert model.shared.weight is model.encoder.embed_tokens.weight


def test_float32_beside_half_precision_stays() -> None:
    model = t5(torch.bfloat16)
    norm = model.encoder.final_layer_norm.float().weight
    before = norm.data_ptr()
    patchkit.thread_dtype(model, torch.float16)
    assert norm.dtype == torch.float32
    assert norm.data_ptr() == before


def test_buffers() -> None:
    model = torch.nn.Module()
    model.register_buffer("cos_cached", torch.ones(2).bfloat16())
    model.register_buffer("inv_freq", torch.ones(2))
    model.register_buffer("steps", torch.ones(2, dtype=torch.int64))
    model.rope = torch.nn.Module()
    model.rope.register_buffer("inv_freq", torch.tensor([1 / 3]).bfloat16())
    summary = patchkit.thread_dtype(model, torch.float16)
    assert summary.buffers == ("cos_cached",)
    assert model.inv_freq.dtype == torch.float32
    assert model.rope.inv_freq.dtype == torch.bfloat16
    assert model.steps.dtype == torch.int64


def test_other_tensors_are_left_alone() -> None:
    model = torch.nn.Linear(4, 4, bias=False).to(torch.float64)
    model.register_buffer("scale", torch.ones(2).to(torch.float8_e4m3fn))
    assert not patchkit.thread_dtype(model, torch.float16)


def test_a_gradient_follows_its_parameter() -> None:
    model = torch.nn.Linear(2, 2).bfloat16()
    model(torch.ones(1, 2).bfloat16()).sum().backward()
    patchkit.thread_dtype(model, torch.float32)
    assert model.weight.grad.dtype == torch.float32


def test_sub_configurations() -> None:
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "num_attention_heads": 2},
        vision_config={"model_type": "clip_vision_model"},
    )
    field = "dtype" if hasattr(config, "dtype") else "torch_dtype"
    model = torch.nn.Linear(2, 2).bfloat16()
    model.config = config
    for part, dtype in (
        (config, torch.bfloat16),
        (config.text_config, torch.bfloat16),
        (config.vision_config, torch.float32),
    ):
        setattr(part, field, dtype)
    patchkit.thread_dtype(model, "fp16")
    assert getattr(config, field) == getattr(config.text_config, field) == torch.float16
    assert getattr(config.vision_config, field) == torch.float32


def test_a_copy_can_be_threaded_alone(saved) -> None:
    model = load(saved["4bit"])
    other = copy.deepcopy(model)
    patchkit.thread_dtype(other, "fp16")
    assert {layer.weight.quant_state.dtype for layer in layers(model)} == {torch.bfloat16}
    assert {layer.weight.quant_state.dtype for layer in layers(other)} == {torch.float16}


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.uint8, torch.float64, torch.complex64, "int8", "auto", None, 16]
)
def test_dtypes_that_no_model_computes_in(dtype) -> None:
    model = torch.nn.Linear(2, 2).half()
    with pytest.raises(patchkit.UsageError, match=r"computes in torch\.float16.*not in"):
        patchkit.thread_dtype(model, dtype)
    assert model.weight.dtype == torch.float16


def test_what_is_no_model() -> None:
    for thing in (None, "model", {}, types.SimpleNamespace(model=torch.nn.Linear(2, 2))):
        with pytest.raises(patchkit.UsageError, match=r"give its `\.model`"):
            patchkit.thread_dtype(thing, torch.float16)


def test_models_of_other_quantizers() -> None:
    method = transformers.utils.quantization_config.QuantizationMethod.GPTQ
    model = torch.nn.Linear(2, 2).half()
    model.hf_quantizer = types.SimpleNamespace(
        quantization_config=types.SimpleNamespace(quant_method=method)
    )
    with pytest.raises(patchkit.UsageError, match="quantized by gptq"):
        patchkit.thread_dtype(model, torch.bfloat16)


def test_sharded_parameters() -> None:
    model = torch.nn.Linear(2, 2).half()
    model.weight.ds_id = 0
    with pytest.raises(patchkit.UsageError, match="before the model is wrapped"):
        patchkit.thread_dtype(model, torch.bfloat16)
