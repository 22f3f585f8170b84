"""Adapters that FSDP computes in another dtype than that of their weights, without autocast."""

from __future__ import annotations

from typing import Any

import peft
import pytest
import torch
from peft.helpers import disable_input_dtype_casting
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
from torch.distributed.fsdp.wrap import CustomPolicy

import patchkit

from ..due import only_if_due

ID = "peft-fsdp-input-dtype"
REFUSED = "have the same dtype, but got"
FULL_PRECISION = "FSDP_USE_FULL_PREC_IN_EVAL"
HALF = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)

pytestmark = [only_if_due(ID), pytest.mark.usefixtures("one_rank")]


def adapted(dtype: torch.dtype, **options: Any) -> Any:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).to(dtype)
    config = {"r": 2, "target_modules": ["0", "1"], "init_lora_weights": False, **options}
    return peft.get_peft_model(layers, peft.LoraConfig(**config))


def is_trained_layer(module: torch.nn.Module) -> bool:
    weight = getattr(module, "weight", None)
    return not list(module.children()) and weight is not None and weight.requires_grad


def sharded(model: Any, dtype: torch.dtype | None, **options: Any) -> Any:
    return FullyShardedDataParallel(
        model,
        auto_wrap_policy=CustomPolicy(is_trained_layer),
        use_orig_params=True,
        mixed_precision=MixedPrecision(param_dtype=dtype, **options),
        device_id=torch.device("cpu"),
    )


def rows(dtype: torch.dtype) -> torch.Tensor:
    return torch.linspace(-1, 1, 16).to(dtype).reshape(2, 8)


def below(wrapped: Any, dtype: torch.dtype) -> torch.Tensor:
    """What the model gives that FSDP wraps, as `generate` calls it."""
    with torch.no_grad(), FullyShardedDataParallel.summon_full_params(wrapped, recurse=False):
        return wrapped.module(rows(dtype))


@HALF
@pytest.mark.parametrize("options", [{}, {"use_rslora": True}, {"lora_dropout": 0.1}], ids=str)
def test_it_computes_in_the_dtype_of_fsdp(dtype: torch.dtype, options: dict[str, Any]) -> None:
    """The numbers are those of the same adapters in half precision."""
    plain = adapted(dtype, **options).eval()
    for parameter in plain.parameters():
        parameter.data = parameter.data.to(dtype)
    expected = plain(rows(dtype))
    model = sharded(adapted(dtype, **options).eval(), dtype)
    with pytest.raises(RuntimeError, match=REFUSED):
        below(model, dtype)
    with patchkit.patched(only=ID, strict=True):
        found = below(model, dtype)
    assert found.dtype == dtype
    assert torch.equal(found, expected)


@HALF
def test_input_that_has_the_dtype_of_the_weights_is_cast_too(dtype) -> None:
    """Rotary embeddings may promote queries and keys, and so the input of the output projection."""
    expected = adapted(torch.float32).eval()(rows(torch.float32))
    model = sharded(adapted(torch.float32).eval(), dtype)
    with pytest.raises(RuntimeError, match=REFUSED):
        below(model, torch.float32)
    with patchkit.patched(only=ID, strict=True):
        found = below(model, torch.float32)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=2**-5, atol=2**-5)


@HALF
def test_disabled_casting_is_left_alone(dtype) -> None:
    model = sharded(adapted(dtype).eval(), dtype)
    layer = model.module.base_model.model[0]
    with patchkit.patched(only=ID, strict=True), disable_input_dtype_casting(model):
        assert layer._cast_input_dtype(torch.ones(2, 8), dtype).dtype == torch.float32


@HALF
def test_two_adapters(dtype: torch.dtype) -> None:
    model = adapted(dtype)
    model.add_adapter("other", peft.LoraConfig(r=2, target_modules=["0"], init_lora_weights=False))
    model.base_model.set_adapter(["default", "other"])
    model = sharded(model.eval(), dtype)
    with patchkit.patched(only=ID, strict=True):
        assert below(model, dtype).dtype == dtype
        with model.module.disable_adapter():
            assert below(model, dtype).dtype == dtype


def outputs(model: Any, inputs: torch.Tensor, *, patched: bool) -> torch.Tensor:
    if not patched:
        return model(inputs)
    with patchkit.patched(only=ID, strict=True):
        return model(inputs)


@HALF
def test_training_under_autocast_has_the_same_numbers(dtype: torch.dtype) -> None:
    found = []
    for patched in (False, True):
        model = sharded(adapted(dtype), dtype)
        with torch.autocast("cpu", dtype):
            loss = outputs(model, torch.ones(2, 8), patched=patched).float().square().mean()
        loss.backward()
        found.append(
            [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        )
    assert found[0]
    assert all(map(torch.equal, *found))


@HALF
def test_without_units_of_fsdp_nothing_changes(dtype: torch.dtype) -> None:
    inputs = torch.ones(2, 8, dtype=dtype)
    before, after = (outputs(adapted(dtype), inputs, patched=patched) for patched in (False, True))
    assert torch.equal(before, after)


def test_fsdp_without_mixed_precision_is_left_alone() -> None:
    model = sharded(adapted(torch.bfloat16).eval(), None)
    before = below(model, torch.bfloat16)
    with patchkit.patched(only=ID, strict=True):
        assert torch.equal(below(model, torch.bfloat16), before)


def test_units_that_cast_their_input_give_the_same_numbers() -> None:
    model = sharded(adapted(torch.bfloat16).eval(), torch.bfloat16, cast_forward_inputs=True)
    before = below(model, torch.bfloat16)
    with patchkit.patched(only=ID, strict=True):
        assert torch.equal(below(model, torch.bfloat16), before)


def test_full_precision_in_evaluation_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FULL_PRECISION, "1")
    model = sharded(adapted(torch.bfloat16).eval(), torch.bfloat16)
    before = below(model, torch.bfloat16)
    with patchkit.patched(only=ID, strict=True):
        assert torch.equal(below(model, torch.bfloat16), before)


def test_compiled_models_are_one_graph() -> None:
    """Where there is a process group, too."""
    model = adapted(torch.bfloat16).eval()
    inputs = torch.ones(2, 8, dtype=torch.bfloat16)
    with patchkit.patched(only=ID, strict=True), torch.no_grad():
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        assert torch.equal(compiled(inputs), model(inputs))
