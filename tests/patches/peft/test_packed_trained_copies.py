"""Copies that `modules_to_save` trains of packed layers: trained, switched, saved and merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized
from patchkit.precision.quant_state import packs_weight

PATCH = "peft-packed-trained-copies"
pytestmark = pytest.mark.usefixtures("nothing_stays_applied")
#: Whatever repacks weights on a CPU is another patch's, and so is how a merged model is saved.
ONLY = [PATCH, "bitsandbytes-cpu-inference-packing", "transformers-plain-layer-saved"]
MODULES = ["up_proj"]
IDS = torch.arange(4, 20)[None]


@pytest.fixture(params=["4bit", "8bit"])
def model(request: pytest.FixtureRequest) -> Any:
    return quantized.load_tiny(request.param).eval()


def adapted(model: Any, **options: Any) -> Any:
    config = peft.LoraConfig(
        r=2, target_modules=["q_proj"], modules_to_save=MODULES, task_type="CAUSAL_LM", **options
    )
    return peft.get_peft_model(model, config)


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        return model(input_ids=IDS).logits.float()


def train(model: Any, rate: float = 1e-2) -> Any:
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with torch.autocast("cpu", torch.bfloat16):
        model.train()(input_ids=IDS, labels=IDS).loss.backward()
    torch.optim.AdamW(trained, lr=rate).step()
    model.zero_grad()
    return model.eval()


def close(actual: torch.Tensor, expected: torch.Tensor, share: float = 0.02) -> None:
    error = float((actual - expected).norm() / expected.norm())
    assert error < share, f"off by {error:.3f}, relative"


def copies(model: Any) -> list[Any]:
    return [
        module
        for name, module in model.named_modules()
        if name.rpartition(".")[0].endswith("up_proj.modules_to_save")
    ]


def test_without_the_patch_it_raises(model: Any) -> None:
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype"):
        adapted(model)


def test_two_adapters_and_none(model: Any) -> None:
    patchkit.apply(only=ONLY)
    before = logits(model)
    model = adapted(model)
    close(logits(model), before)
    assert copies(model)
    assert all(type(copy) is torch.nn.Linear for copy in copies(model))
    first = logits(train(model))
    assert (first - before).norm() / before.norm() > 0.05
    model.add_adapter("second", model.peft_config["default"])
    model.set_adapter("second")
    close(logits(model), before)
    second = logits(train(model, rate=3e-2))
    assert (second - first).norm() / first.norm() > 0.05
    model.set_adapter("default")
    close(logits(model), first)
    with model.disable_adapter():
        torch.testing.assert_close(logits(model), before)
    model.delete_adapter("default")
    model.set_adapter("second")
    close(logits(model), second)


def test_saved_and_loaded_onto_packed_layers(model: Any, tmp_path: Path) -> None:
    base = quantized.load_tiny("4bit" if getattr(model, "is_loaded_in_4bit", False) else "8bit")
    patchkit.apply(only=ONLY)
    trained = train(adapted(model))
    trained.save_pretrained(tmp_path)
    for low_memory in (False, True):
        again = peft.PeftModel.from_pretrained(
            base, tmp_path, adapter_name=f"loaded{low_memory}", low_cpu_mem_usage=low_memory
        )
        close(logits(again.eval()), logits(trained))
        base = again.unload()


def test_merged_saved_and_loaded_without_the_patch(model: Any, tmp_path: Path) -> None:
    patchkit.apply(only=ONLY)
    merged = train(adapted(model)).merge_and_unload()
    expected = logits(merged)
    assert not any("up_proj" in name for name, part in merged.named_modules() if packs_weight(part))
    merged.save_pretrained(tmp_path)
    patchkit.revert()
    again = quantized.load(tmp_path, dtype="bfloat16").eval()
    close(logits(again), expected)


@pytest.mark.parametrize("kind", ["4bit", "8bit"])
def test_without_autocast(kind: str) -> None:
    """With the patch that makes copies float32, they go on taking and giving bfloat16."""
    patchkit.apply(only=[*ONLY, "peft-modules-to-save-dtype"])
    model = adapted(quantized.load_tiny(kind))
    assert {copy.weight.dtype for copy in copies(model)} == {torch.float32}
    loss = model(input_ids=IDS, labels=IDS).loss
    loss.backward()
    assert all(copy.weight.grad is not None for copy in copies(model))
    merged = model.eval().merge_and_unload()
    dtypes = {
        part.weight.dtype for name, part in merged.named_modules() if name.endswith("up_proj")
    }
    assert dtypes == {torch.bfloat16}
    assert merged(input_ids=IDS).logits.dtype == torch.bfloat16
