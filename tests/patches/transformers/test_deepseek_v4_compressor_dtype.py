"""DeepSeek-V4 in float16, whose compressors keep float32 projections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from patchkit.patches.transformers.deepseek_v4_compressor_dtype import TINY

import patchkit
from patchkit.lab import quantized, shapes

from ..due import only_if_due

ID = "transformers-deepseek-v4-compressor-dtype"
WITH_NORMS = [ID, "transformers-norm-output-dtype"]
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]

PROJECTIONS = ("kv_proj", "gate_proj", "weights_proj")
REFUSED = "have the same dtype, but got"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("deepseek_v4")
    layers = ["sliding_attention", *TINY["layer_types"]]
    # All entries are taken, so that rounding chooses no others.
    options = {"layer_types": layers, "num_hidden_layers": len(layers), "index_topk": 8}
    config = transformers.DeepseekV4Config(**{**TINY, **options, "sliding_window": 4})
    torch.manual_seed(0)
    transformers.DeepseekV4ForCausalLM(config).save_pretrained(where)
    return where


def load(folder: Path, dtype: torch.dtype, bits: int | None = None) -> Any:
    options = {}
    if bits is not None:
        compute = str(dtype).removeprefix("torch.") if bits == 4 else None
        options["quantization_config"] = quantized.configuration(bits, compute_dtype=compute)
    return quantized.load(folder, dtype=dtype, **options)


def float32_projections(model: torch.nn.Module) -> set[str]:
    return {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if "compressor" in name and type(module) is torch.nn.Linear
        if module.weight.dtype == torch.float32
    }


def test_float16_is_nearer_to_float32_than_bfloat16(folder) -> None:
    logits = {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        model = load(folder, dtype)
        assert (float32_projections(model) >= set(PROJECTIONS)) is (dtype != torch.bfloat16)
        with torch.no_grad(), patchkit.patched(only=WITH_NORMS):
            logits[dtype] = shapes.forward(model)
        assert logits[dtype].dtype == dtype
    exact = logits.pop(torch.float32)
    error = {
        dtype: (found.float() - exact).norm() / exact.norm() for dtype, found in logits.items()
    }
    assert error[torch.float16] < 0.01
    assert error[torch.float16] < error[torch.bfloat16]


@pytest.mark.parametrize("bits", [None, 4, 8])
def test_float16_generates_as_it_computes_at_once(bits, folder) -> None:
    """The cache of the compressors is in float32, and the other one in float16."""
    model = load(folder, torch.float16, bits)
    with pytest.raises(RuntimeError, match=REFUSED):
        shapes.generate(model)
    with patchkit.patched(only=WITH_NORMS):
        tokens = shapes.generate(model)
        whole = model(tokens, use_cache=False).logits.argmax(-1)
    new = tokens[:, shapes.words().shape[1] :]
    assert (new == whole[:, -new.shape[1] - 1 : -1]).float().mean() > 0.5


@pytest.mark.parametrize("bits", [None, 4, 8])
def test_float16_trains_with_adapters(bits, folder) -> None:
    """They lie around the projections, too."""
    config = peft.LoraConfig(
        r=2, target_modules=["q_b_proj", *PROJECTIONS], init_lora_weights=False
    )
    model = peft.get_peft_model(load(folder, torch.float16, bits), config).train()
    with patchkit.patched(strict=True):
        loss = model(input_ids=shapes.words(), labels=shapes.words()).loss
        loss.backward()
    assert torch.isfinite(loss)
    gradients = {
        name: parameter.grad for name, parameter in model.named_parameters() if "lora_B" in name
    }
    chosen_by_index = "indexer"
    for name, gradient in gradients.items():
        # An indexer chooses, and no gradient comes through a choice.
        assert chosen_by_index in name or gradient.abs().sum() > 0, name


@pytest.mark.parametrize("autocast", [False, True], ids=["plain", "autocast"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_what_worked_is_the_same_bit_for_bit(dtype, autocast, folder) -> None:
    model = load(folder, dtype)
    precision = torch.float16 if dtype == torch.float16 else torch.bfloat16

    def outcome() -> Any:
        with torch.no_grad(), torch.autocast("cpu", precision, enabled=autocast):
            try:
                return shapes.forward(model)
            except RuntimeError as error:
                return str(error)

    before = outcome()
    with patchkit.patched(only=ID, strict=True):
        after = outcome()
    if isinstance(before, str):
        assert dtype != torch.float32 or autocast
        assert REFUSED in before
    else:
        assert torch.equal(before, after)


def test_revert_gives_the_code_back() -> None:
    from transformers.models.deepseek_v4 import modeling_deepseek_v4 as modeling

    kinds = [
        getattr(modeling, f"DeepseekV4{name}")
        for name in ("HCACompressor", "CSACompressor", "Indexer", "IndexerScorer", "Attention")
    ]
    code = [kind.forward.__code__ for kind in kinds]
    with patchkit.patched(only=ID, strict=True):
        assert all(kind.forward.__code__ is not old for kind, old in zip(kinds, code, strict=True))
    assert all(kind.forward.__code__ is old for kind, old in zip(kinds, code, strict=True))


def test_what_looks_alike_agrees_in_dtype(folder, monkeypatch) -> None:
    """Projections of the same names, and what the cache joins: `harmless` names them."""
    from transformers.models.deepseek_v4 import modeling_deepseek_v4 as modeling

    model = load(folder, torch.float16)
    met = []

    def see_input(layer: torch.nn.Linear, inputs: Any) -> None:
        met.append((kinds[layer], inputs[0].dtype, layer.weight.dtype))

    kinds = {
        getattr(module, name): type(module).__name__
        for module in model.modules()
        for name in ("kv_proj", "gate_proj")
        if type(module).__name__ in ("DeepseekV4Attention", "DeepseekV4MLP")
        if hasattr(module, name)
    }
    for layer in kinds:
        layer.register_forward_pre_hook(see_input)
    store = modeling.DeepseekV4HCACache.store_compression_weights

    def see_stored(cache: Any, name: str, kv: torch.Tensor, gate: torch.Tensor) -> Any:
        for buffered, new in ((cache.buffer_kv[name], kv), (cache.buffer_gate[name], gate)):
            if buffered is not None:
                met.append((type(cache).__name__, buffered.dtype, new.dtype))
        return store(cache, name, kv, gate)

    monkeypatch.setattr(modeling.DeepseekV4HCACache, "store_compression_weights", see_stored)
    with patchkit.patched(only=WITH_NORMS):
        shapes.generate(model)
    assert {kind for kind, _, _ in met} == {
        "DeepseekV4Attention", "DeepseekV4MLP", "DeepseekV4HCACache", "DeepseekV4CSACache",
    }  # fmt: skip
    assert all(first == second for _, first, second in met), set(met)
