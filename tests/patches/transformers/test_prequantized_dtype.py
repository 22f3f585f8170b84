"""What `from_pretrained` is asked for, and what a quantized checkpoint comes back with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import bitsandbytes as bnb
import peft
import pytest
import torch
import transformers

import patchkit
from patchkit.lab import quantized, tiny
from patchkit.precision.loading import read_request

VERSION = tuple(int(part) for part in transformers.__version__.split(".")[:2])
PATCH = "transformers-prequantized-dtype"
#: Storage other than uint8 is loaded wrongly by Transformers 4, which is another patch.
ONLY = [PATCH, "transformers-packed-weight-cast"]
#: Transformers 5 cannot turn the conversions of a quantized checkpoint round when it saves again.
SAVING = {"save_original_format": False} if VERSION >= (5, 0) else {}
STORAGE = {"bnb_4bit_quant_storage": torch.bfloat16}
KINDS: dict[str, dict[str, Any]] = {
    "4bit": {},
    "double": {"bnb_4bit_use_double_quant": True},
    "storage": STORAGE,
    "8bit": {"bits": 8},
    "sharded": {"max_shard_size": "20KB"},
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Checkpoints in bfloat16."""
    folder = tmp_path_factory.mktemp("models")
    plain = tiny.build_causal_lm(folder / "plain", dtype="bfloat16")
    made = {name: folder / name for name in KINDS}
    for name, options in KINDS.items():
        quantized.save(plain, made[name], dtype="bfloat16", **options)
    tied = llama(folder / "tied-plain", tie_word_embeddings=True, attention_bias=True)
    made["tied"] = quantized.save(tied, folder / "tied", dtype="bfloat16")
    model = quantized.load(made["4bit"], dtype="bfloat16")
    model.model.norm.float()
    model.save_pretrained(folder / "float32-norm", **SAVING)
    return {"plain": plain, **made, "float32-norm": folder / "float32-norm"}


def llama(folder: Path, **options: Any) -> Path:
    config = transformers.LlamaConfig(
        vocab_size=32,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        **options,
    )
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


def four_bit(model: Any) -> list[Any]:
    return [module for module in model.modules() if isinstance(module, bnb.nn.Linear4bit)]


def described(model: Any) -> dict[str, Any]:
    """All dtypes of a model, as numbers of things."""
    packed = {id(module.weight) for module in model.modules() if hasattr(module, "source_cls")}
    packed |= {id(layer.weight) for layer in four_bit(model)}
    config = model.config.quantization_config
    return {
        "compute": Counter(layer.compute_dtype for layer in four_bit(model)),
        "states": Counter(layer.weight.quant_state.dtype for layer in four_bit(model)),
        "inner": Counter(
            getattr(layer.weight.quant_state.state2, "dtype", None) for layer in four_bit(model)
        ),
        "weights": Counter(
            parameter.dtype
            for parameter in model.parameters()
            if id(parameter) not in packed and parameter.dtype != torch.int8
        ),
        "buffers": Counter(buffer.dtype for buffer in model.buffers()),
        "config": getattr(model.config, "dtype", None) or model.config.torch_dtype,
        "quantization": config.bnb_4bit_compute_dtype,
    }


def numbers(model: Any) -> list[torch.Tensor]:
    """What quantized layers hold, dequantized to float32."""
    found = []
    for module in model.modules():
        if isinstance(module, bnb.nn.Linear4bit):
            state = module.weight.quant_state
            found.append(bnb.functional.dequantize_4bit(module.weight.data, state).float())
        elif isinstance(module, bnb.nn.Linear8bitLt):
            # The first forward moves the scales.
            scales = module.weight.SCB if module.weight.SCB is not None else module.state.SCB
            found.append(module.weight.data.float() * scales[:, None])
    return found


def load(folder: Path, *, patched: bool = True, apply: Any = None, **options: Any) -> Any:
    if not patched:
        return quantized.load(folder, **options)
    with patchkit.patched(only=ONLY, strict=True, dtype=apply):
        return quantized.load(folder, **options)


def check_float16(model: Any) -> None:
    found = described(model)
    assert set(found["compute"]) <= {torch.float16}
    assert set(found["states"]) <= {torch.float16}
    assert set(found["inner"]) <= {None, torch.float32}
    assert set(found["weights"]) == {torch.float16}
    assert set(found["buffers"]) == {torch.float32}
    assert found["config"] == torch.float16
    if four_bit(model):
        assert found["quantization"] == torch.float16


ASKED: dict[str, dict[str, Any]] = {
    "dtype": {"dtype": "float16"},
    "a name": {"dtype": lambda: "float16"},
    "both": {"dtype": "float16", "compute_dtype": "float16"},
    "device_map": {"dtype": "float16", "device_map": "auto"},
    "one device": {"dtype": "float16", "device_map": {"": "cpu"}},
}


def options_of(asked: str) -> dict[str, Any]:
    return {key: value() if callable(value) else value for key, value in ASKED[asked].items()}


@pytest.mark.parametrize("asked", ASKED)
def test_float16_of_a_bfloat16_checkpoint(saved, asked: str) -> None:
    without = described(load(saved["4bit"], patched=False, **options_of(asked)))
    assert set(without["compute"]) == set(without["states"]) == {torch.bfloat16}
    assert without["quantization"] == torch.bfloat16
    if VERSION >= (5, 21):
        assert set(without["weights"]) == {torch.bfloat16}
    check_float16(load(saved["4bit"], **options_of(asked)))


@pytest.mark.parametrize("kind", [*KINDS, "tied", "float32-norm"])
def test_each_kind_of_checkpoint(saved, kind: str, tmp_path: Path) -> None:
    before = load(saved[kind], patched=False, dtype="bfloat16")
    model = load(saved[kind], dtype="float16")
    check_float16(model)
    if kind == "tied":
        assert model.lm_head.weight is model.model.embed_tokens.weight
        assert model.model.layers[0].self_attn.q_proj.bias.dtype == torch.float16
    packed, expected = quantized.packed_bytes(model), quantized.packed_bytes(before)
    assert all(torch.equal(packed[name], expected[name]) for name in expected)
    with torch.no_grad():
        # In training mode, so that no CPU repacks the weights.
        logits = model.train()(torch.arange(4, 20)[None]).logits
    assert logits.dtype == torch.float16
    assert logits.isfinite().all()

    # Saved again and loaded elsewhere it is the same model, and asks for nothing any more.
    model.save_pretrained(tmp_path, **SAVING)
    packed_into_floats = kind == "storage" and VERSION < (5, 0)
    again = load(tmp_path, patched=packed_into_floats, dtype="float16")
    check_float16(again)
    for tensor, other in zip(numbers(model), numbers(again), strict=True):
        assert torch.equal(tensor, other)
    assert torch.equal(model.model.norm.weight, again.model.norm.weight)


NOTHING: dict[str, dict[str, Any]] = {
    "no dtype": {},
    "none": {"dtype": None},
    "auto": {"dtype": "auto"},
    "a configuration that says nothing": {"quantization_config": quantized.configuration},
}


@pytest.mark.parametrize("asked", NOTHING)
@pytest.mark.parametrize("kind", ["4bit", "double", "float32-norm"])
def test_nothing_changes_where_nothing_is_asked_for(saved, kind: str, asked: str) -> None:
    options = {key: value() if callable(value) else value for key, value in NOTHING[asked].items()}
    without = load(saved[kind], patched=False, **options)
    model = load(saved[kind], **options)
    assert described(model) == described(without)
    assert all(torch.equal(a, b) for a, b in zip(numbers(model), numbers(without), strict=True))


def test_what_the_checkpoint_has_already_is_left_alone(saved) -> None:
    options = {"dtype": "bfloat16", "compute_dtype": "bfloat16"}
    model, without = (load(saved["4bit"], patched=each, **options) for each in (True, False))
    assert described(model) == described(without)


def test_an_explicit_compute_dtype_alone(saved) -> None:
    without = described(load(saved["4bit"], patched=False, compute_dtype="float16"))
    found = described(load(saved["4bit"], compute_dtype="float16"))
    assert set(found["compute"]) == set(found["states"]) == {torch.float16}
    assert found["quantization"] == torch.float16
    assert found["weights"] == without["weights"]
    assert found["config"] == without["config"]


def test_an_explicit_compute_dtype_wins_over_dtype(saved) -> None:
    found = described(load(saved["4bit"], dtype="float16", compute_dtype="bfloat16"))
    assert set(found["compute"]) == set(found["states"]) == {torch.bfloat16}
    assert set(found["weights"]) == {torch.float16}


def test_float32_reaches_what_is_not_quantized(saved) -> None:
    found = described(load(saved["4bit"], dtype="float32"))
    assert set(found["weights"]) == {torch.float32}
    assert set(found["compute"]) == set(found["states"]) == {torch.bfloat16}


def test_float32_in_a_dictionary_is_explicit() -> None:
    config = {"load_in_4bit": True, "bnb_4bit_compute_dtype": "float32"}
    request = read_request({"quantization_config": config})
    assert request.compute_dtype == "float32"
    assert request.for_layers == "float32"


@pytest.mark.parametrize("asked", [{}, {"dtype": "bfloat16"}, {"compute_dtype": "bfloat16"}])
def test_the_dtype_of_apply_comes_first(saved, asked: dict[str, Any]) -> None:
    check_float16(load(saved["4bit"], apply=torch.float16, **asked))


@pytest.mark.parametrize("quantization", ["none", "4bit", "8bit"])
def test_checkpoints_that_are_not_quantized(saved, quantization: str) -> None:
    options: dict[str, Any] = {"dtype": "float16"}
    if quantization != "none":
        options["quantization_config"] = quantized.configuration(int(quantization[0]))
    model, without = (load(saved["plain"], patched=each, **options) for each in (True, False))
    one, other = (
        {name: tensor.dtype for name, tensor in each.state_dict().items()}
        for each in (model, without)
    )
    assert one == other
    assert quantized.compute_dtypes(model) == quantized.compute_dtypes(without)


def test_the_body_alone(saved) -> None:
    """Its names differ from those of the checkpoint."""
    found = described(load(saved["4bit"], dtype="float16", loader=transformers.AutoModel))
    assert set(found["compute"]) == {torch.float16}
    assert set(found["weights"]) == {torch.float16}


def test_modules_kept_in_float32(tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=32, d_model=64, d_kv=32, d_ff=64, num_layers=1, num_heads=2
    )
    model = transformers.T5ForConditionalGeneration(config).to(torch.bfloat16)
    model.save_pretrained(tmp_path / "plain")
    loader = {"loader": transformers.AutoModelForSeq2SeqLM}
    folder = tmp_path / "quantized"
    options = {"quantization_config": quantized.configuration(4, compute_dtype="bfloat16")}
    quantized.load(tmp_path / "plain", dtype="bfloat16", **options, **loader).save_pretrained(
        folder
    )
    loaded = load(folder, dtype="float16", **loader)
    for name, parameter in loaded.named_parameters():
        if ".wo." in name:
            assert parameter.dtype == torch.float32
        elif "norm" in name or "shared" in name:
            assert parameter.dtype == torch.float16
    assert quantized.compute_dtypes(loaded) == {"torch.float16"}
    one, other = (load(folder, patched=each, dtype="bfloat16", **loader) for each in (True, False))
    assert [p.dtype for p in one.parameters()] == [p.dtype for p in other.parameters()]


def test_adapters_on_top(saved, tmp_path: Path) -> None:
    base = load(saved["4bit"], dtype="float16")
    config = peft.LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
    peft.get_peft_model(base, config).save_pretrained(tmp_path)
    fresh = load(saved["4bit"], dtype="float16")
    model = peft.PeftModel.from_pretrained(fresh, tmp_path, is_trainable=True)
    adapters = {p.dtype for name, p in model.named_parameters() if "lora_" in name}
    assert adapters == {torch.float32}
    model.train()
    with torch.autocast("cpu", torch.float16):
        loss = model(torch.arange(4, 20)[None]).logits.float().square().mean()
    loss.backward()
    assert loss.isfinite()
    # A folder that holds an adapter alone names its base, and is loaded with it.
    model.peft_config["default"].base_model_name_or_path = str(saved["4bit"])
    model.save_pretrained(tmp_path / "named")
    whole, without = (
        load(tmp_path / "named", patched=each, dtype="float16") for each in (True, False)
    )
    assert quantized.compute_dtypes(whole) == {"torch.float16"}
    one, other = (
        {name: p.dtype for name, p in each.named_parameters() if "lora_" in name}
        for each in (whole, without)
    )
    assert one
    assert one == other


def test_what_from_pretrained_returns_beside_the_model(saved) -> None:
    model, info = load(saved["4bit"], dtype="float16", output_loading_info=True)
    assert quantized.compute_dtypes(model) == {"torch.float16"}
    assert not info["missing_keys"]


def test_taken_back(saved) -> None:
    from transformers import PreTrainedModel

    before = vars(PreTrainedModel)["from_pretrained"]
    check_float16(load(saved["4bit"], dtype="float16"))
    assert vars(PreTrainedModel)["from_pretrained"] is before
