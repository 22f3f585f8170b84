"""Fused experts, which bitsandbytes does not quantize, in `prepare_model_for_kbit_training`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from patchkit.patches.peft.kbit_fused_experts import TINY_MIXTRAL

import patchkit
from patchkit.lab import quantized, shapes

ONLY = "peft-kbit-fused-experts"

pytestmark = pytest.mark.skipif(
    patchkit.report()[ONLY].status is patchkit.Status.NOT_AFFECTED, reason="not due here"
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import transformers

    folder = tmp_path_factory.mktemp("mixtral")
    options = {**TINY_MIXTRAL, "num_hidden_layers": 2, "initializer_range": 0.1}
    config = transformers.MixtralConfig(**options)
    torch.manual_seed(0)
    transformers.MixtralForCausalLM(config).save_pretrained(folder)
    return folder


def load(folder: Path, *, bits: int = 4, dtype: str = "bfloat16", **options: Any) -> Any:
    if bits:
        compute = dtype if bits == 4 else None
        options["quantization_config"] = quantized.configuration(bits, compute_dtype=compute)
    return quantized.load(folder, dtype=dtype, **options)


def prepare(model: Any) -> Any:
    import peft

    return peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)


def dtypes(model: torch.nn.Module) -> dict[bool, set[torch.dtype]]:
    """The dtypes of fused experts (True), and of all else that is not packed."""
    found: dict[bool, set[torch.dtype]] = {True: set(), False: set()}
    for name, parameter in model.named_parameters():
        if parameter.is_floating_point():
            found["experts" in name].add(parameter.dtype)
    return found


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_only_experts_keep_their_dtype(checkpoint: Path, bits: int, dtype: str) -> None:
    with patchkit.patched(only=ONLY, strict=True):
        model = prepare(load(checkpoint, bits=bits, dtype=dtype))
    assert dtypes(model) == {True: {getattr(torch, dtype)}, False: {torch.float32}}
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert dtypes(prepare(load(checkpoint, bits=bits, dtype=dtype)))[True] == {torch.float32}


def test_everything_else_is_as_upstream_has_it(checkpoint: Path) -> None:
    near_misses = {
        "not quantized": {"bits": 0},
        "an implementation that does not cast": {"experts_implementation": "eager"},
    }
    for options in near_misses.values():
        with patchkit.patched(only=ONLY, strict=True):
            model = prepare(load(checkpoint, **options))
        assert dtypes(model) == {True: {torch.float32}, False: {torch.float32}}


@pytest.mark.parametrize("autocast", [True, False])
def test_training_goes_as_with_float32_experts(checkpoint: Path, autocast: bool) -> None:
    import peft

    def losses(*, patched: bool) -> list[float]:
        model = load(checkpoint)
        if patched:
            with patchkit.patched(only=ONLY, strict=True):
                model = prepare(model)
        else:
            model = prepare(model)
        torch.manual_seed(0)
        model = peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules=["q_proj"]))
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(trained, lr=1e-2)
        found = []
        for _ in range(6):
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = model(input_ids=shapes.words(), labels=shapes.words()).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            found.append(loss.item())
        return found

    upstream, fixed = losses(patched=False), losses(patched=True)
    assert fixed[-1] < fixed[0] - 0.1
    assert fixed == pytest.approx(upstream, abs=0.05)


def test_a_tool_that_replaces_the_text_of_the_loop(checkpoint: Path, monkeypatch) -> None:
    """Both are in force in its copy: its embeddings and our experts stay as they were loaded."""
    import inspect

    from peft.utils import other

    # What axolotl 0.19.0 looks for; what it puts there walks over `named_parameters()`.
    loop = """
        for param in model.parameters():
            if (
                (param.dtype == torch.float16) or (param.dtype == torch.bfloat16)
            ) and param.__class__.__name__ != "Params4bit":
                param.data = param.data.to(torch.float32)
"""
    instead = """
        for name, param in model.named_parameters():
            if param.is_floating_point() and "embed_tokens" not in name:
                param.data = param.data.float()
"""
    with patchkit.patched(only=ONLY, strict=True):
        text = inspect.getsource(other.prepare_model_for_kbit_training)
        assert text.count(loop) == 1
        exec(text.replace(loop, instead), names := dict(vars(other)))
        model = names["prepare_model_for_kbit_training"](load(checkpoint))
    found = {name: tensor.dtype for name, tensor in model.named_parameters()}
    assert type(model).__name__ == "MixtralForCausalLM"
    assert found["model.embed_tokens.weight"] == torch.bfloat16
    assert found["model.norm.weight"] == torch.float32
    assert {found[name] for name in found if "experts" in name} == {torch.bfloat16}
