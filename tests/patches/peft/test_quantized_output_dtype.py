"""What adapters on quantized layers return, for each dtype that they are given."""

from __future__ import annotations

from typing import Any

import peft
import pytest
import torch

import patchkit
from patchkit.lab import quantized

PATCH = "peft-quantized-output-dtype"
PROJECTIONS = ["k_proj", "v_proj"]
#: Adapters that leaked float32 in some release, by the configurations that make them so small.
LEAKED: dict[str, dict[str, Any]] = {
    "IA3Config": {"target_modules": PROJECTIONS, "feedforward_modules": []},
    "IA3Config of a feedforward layer": {
        "target_modules": ["down_proj"],
        "feedforward_modules": ["down_proj"],
    },
    "AdaLoraConfig": {"target_modules": PROJECTIONS, "total_step": 10, "tinit": 1, "tfinal": 1},
    "RandLoraConfig": {"target_modules": PROJECTIONS, "r": 4},
    "VeraConfig": {"target_modules": PROJECTIONS, "r": 4},
    "RoadConfig": {"target_modules": PROJECTIONS, "group_size": 8},
    "PveraConfig": {"target_modules": PROJECTIONS, "r": 4},
}
MISMATCH = "to have the same dtype"


def patched() -> Any:
    return patchkit.patched(only=PATCH, strict=True)


@pytest.fixture(scope="module", params=["4bit", "8bit"])
def quantization(request: pytest.FixtureRequest) -> Any:
    return request.param


def adapted(kind: str, quantization: Any, **options: Any) -> Any:
    name = kind.partition(" ")[0]
    if not hasattr(peft, name):
        pytest.skip(f"PEFT {peft.__version__} has no {name}")
    model = quantized.load_tiny(quantization)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = getattr(peft, name)(task_type="CAUSAL_LM", **LEAKED[kind])
        return peft.get_peft_model(model, config, **options)


def layers(model: Any) -> list[Any]:
    return [
        module
        for module in model.modules()
        if isinstance(module, peft.tuners.tuners_utils.BaseTunerLayer)
    ]


def outputs(model: Any, dtype: torch.dtype) -> list[torch.Tensor]:
    found = []
    for layer in layers(model):
        given = torch.linspace(-1, 1, 3 * layer.in_features).view(1, 3, -1).to(dtype)
        found.append(layer(given))
    assert found
    return found


@pytest.mark.parametrize("kind", LEAKED)
def test_output_has_the_dtype_of_the_input(kind: str, quantization: Any) -> None:
    model = adapted(kind, quantization)
    with torch.no_grad():  # on a CPU, bitsandbytes computes otherwise where gradients are wanted
        full = outputs(model, torch.float32)
        without = outputs(model, torch.bfloat16)
    with patched(), torch.no_grad():
        half = outputs(model, torch.bfloat16)
        again = outputs(model, torch.float32)
    assert {output.dtype for output in half} == {torch.bfloat16}
    for before, after in zip(without, half, strict=True):
        assert torch.equal(before.to(torch.bfloat16), after)
    # What came in as float32 is as it was: adapters of `prepare_model_for_kbit_training`.
    for before, after in zip(full, again, strict=True):
        assert after.dtype == torch.float32
        assert torch.equal(before, after)


@pytest.mark.parametrize("kind", ["IA3Config", "RandLoraConfig", "RoadConfig", "PveraConfig"])
def test_whole_model(kind: str, quantization: Any) -> None:
    model = adapted(kind, quantization)
    with pytest.raises(RuntimeError, match=MISMATCH):
        quantized.step(model)
    with patched():
        assert quantized.step(model).dtype == torch.bfloat16
        ids = torch.arange(10, 14)[None]
        assert model.generate(input_ids=ids, max_new_tokens=2, do_sample=False).shape == (1, 6)
    with pytest.raises(RuntimeError, match=MISMATCH):
        quantized.step(model)


def test_half_precision_adapters(quantization: Any) -> None:
    model = adapted("IA3Config", quantization, autocast_adapter_dtype=False)
    with patched(), torch.no_grad():
        assert {output.dtype for output in outputs(model, torch.bfloat16)} == {torch.bfloat16}


@pytest.mark.parametrize("kind", ["IA3Config", "RandLoraConfig", "AdaLoraConfig"])
def test_near_misses(kind: str, quantization: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disabled adapters, and autocast, as far as upstream asks for it."""
    model = adapted(kind, quantization)

    def results() -> list[torch.Tensor]:
        with model.disable_adapter(), torch.no_grad():
            found = outputs(model, torch.bfloat16)
        with monkeypatch.context() as context, torch.no_grad():
            # CUDA's autocast casts matrix products; here it is enough that it says it is on.
            context.setattr(torch, "is_autocast_enabled", lambda *_: True)
            return [*found, *outputs(model, torch.float32)]

    without = results()
    with patched():
        after = results()
    assert [output.dtype for output in without] == [output.dtype for output in after]
    assert all(map(torch.equal, without, after))


def test_under_autocast_a_half_precision_input_gives_what_it_did(
    quantization: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = adapted("IA3Config", quantization)
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda *_: True)
    with torch.no_grad():
        without = outputs(model, torch.bfloat16)
        with patched():
            after = outputs(model, torch.bfloat16)
    assert {output.dtype for output in after} == {torch.float32}
    assert all(map(torch.equal, without, after))


@pytest.mark.parametrize("kind", LEAKED)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_under_autocast_of_the_cpu(kind: str, dtype: torch.dtype, quantization: Any) -> None:
    """Upstream asks for CUDA's autocast alone, and a training on a CPU has run with the result."""
    model = adapted(kind, quantization)

    def results() -> list[torch.Tensor]:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            return outputs(model, dtype)

    without = results()
    with patched():
        after = results()
    assert [tensor.dtype for tensor in without] == [tensor.dtype for tensor in after]
    assert all(map(torch.equal, without, after))
