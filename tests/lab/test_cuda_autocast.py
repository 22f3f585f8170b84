"""Each operator casts on a CPU as CUDA's own autocast does, which runs here on made-up tensors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from patchkit.lab import cuda_autocast, shapes, tiny

from .operator_calls import CALLS

tiny.go_offline()

PAIRS = list(itertools.product((torch.bfloat16, torch.float16, torch.float32), repeat=2))
# Without CUDA these two cannot be made up; their list is the other's.
SAME_LIST = {"gru_cell": "rnn_tanh_cell", "grid_sampler": "atan2"}
CUDA_ONLY = {
    "_scaled_dot_product_flash_attention",
    "_thnn_fused_gru_cell",
    "_thnn_fused_lstm_cell",
    "cudnn_convolution",
    "cudnn_convolution_transpose",
}


@pytest.fixture
def as_on_cuda() -> Iterator[None]:
    undo = cuda_autocast.install()
    yield
    undo()


def outcome(name: str, device: str, dtypes: tuple[torch.dtype, torch.dtype]) -> str:
    """Say the dtypes that an operator returns, or what it raises."""

    def maker(dtype: torch.dtype) -> Any:
        return lambda *shape: torch.full(shape, 0.5, dtype=dtype, device=device)

    try:
        result = CALLS[name](*map(maker, dtypes))
    except RuntimeError as error:
        return str(error).partition("\n")[0].partition(". ")[0]
    results = [result] if isinstance(result, torch.Tensor) else result
    return " ".join(str(result.dtype) for result in results)


def outcomes_on_cuda(name: str) -> list[str]:
    torch.set_autocast_dtype("cuda", torch.float16)
    torch.set_autocast_enabled("cuda", True)
    try:
        with FakeTensorMode():
            return [outcome(name, "cuda", dtypes) for dtypes in PAIRS]
    finally:
        torch.set_autocast_enabled("cuda", False)


def outcomes_on_cpu(name: str, dtype: torch.dtype = torch.float16, pairs=PAIRS) -> list[str]:
    with torch.autocast("cpu", dtype):
        return [outcome(name, "cpu", dtypes) for dtypes in pairs]


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_and_refusals_are_those_of_cuda(as_on_cuda, name: str) -> None:
    assert outcomes_on_cpu(name) == outcomes_on_cuda(SAME_LIST.get(name, name))


def test_every_operator_on_a_list_of_cuda_is_called_here() -> None:
    listed = {
        name.removeprefix("aten::")
        for name in torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
        if name.startswith("aten::")
    }
    assert listed - CUDA_ONLY <= set(CALLS)
    assert {"layer_norm", "softmax.int", "addcmul"} <= listed
    assert not {"cat", "stack"} & listed


def test_without_it_a_cpu_refuses_or_stays_in_half_precision() -> None:
    both = PAIRS.index((torch.bfloat16, torch.bfloat16))
    mixed = PAIRS.index((torch.float32, torch.bfloat16))
    assert "Unexpected floating ScalarType" in outcomes_on_cpu("cat")[both]
    assert "mixed dtype (CPU)" in outcomes_on_cpu("layer_norm")[mixed]
    assert outcomes_on_cpu("softmax.int")[both] == "torch.bfloat16"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_other_dtypes_and_afterwards_a_cpu_casts_as_before(dtype: torch.dtype) -> None:
    def outcomes() -> dict[str, list[str]]:
        return {name: outcomes_on_cpu(name, dtype, PAIRS[::2]) for name in CALLS}

    before = outcomes()
    undo = cuda_autocast.install()
    during = before if dtype == torch.float16 else outcomes()
    undo()
    assert during == before
    assert outcomes() == before


def test_nothing_is_cast_without_autocast(as_on_cuda) -> None:
    x = torch.ones(4, 4, dtype=torch.bfloat16)
    assert torch.softmax(x, -1).dtype == torch.cat([x, x]).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.float16), torch.autocast("cpu", enabled=False):
        assert torch.softmax(x, -1).dtype == torch.bfloat16


def test_values_and_gradients_are_those_of_the_casts(as_on_cuda) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(3, 8).bfloat16(), torch.randn(8).bfloat16()
    gradients = []
    for cast in (False, True):
        leaves = [tensor.clone().requires_grad_() for tensor in (x, weight)]
        given = [leaf.float() for leaf in leaves] if cast else leaves
        with torch.autocast("cpu", torch.float16, enabled=not cast):
            out = torch.nn.functional.layer_norm(given[0], (8,), given[1])
        assert out.dtype == torch.float32
        out.square().sum().backward()
        assert all(leaf.grad.dtype == torch.bfloat16 for leaf in leaves)
        gradients.append([out, *(leaf.grad for leaf in leaves)])
    assert all(map(torch.equal, *gradients))


@pytest.mark.parametrize("family", shapes.FAMILIES)
def test_bfloat16_models_of_many_families_train(as_on_cuda, family: str) -> None:
    model = shapes.build(family).bfloat16().train()
    with torch.autocast("cpu", torch.float16):
        logits = shapes.forward(model)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), shapes.words().flatten())
    (loss * 1024).backward()
    assert (logits.dtype, loss.dtype) == (torch.float16, torch.float32)
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert gradients
    assert all(
        gradient.dtype == torch.bfloat16 and gradient.isfinite().all() for gradient in gradients
    )


def test_a_model_that_asks_about_cuda_hears_of_this_autocast(as_on_cuda) -> None:
    assert not torch.is_autocast_enabled()
    with torch.autocast("cpu", torch.float16):
        assert torch.is_autocast_enabled()
        with torch.autocast("cpu", enabled=False):
            assert not torch.is_autocast_enabled()
    assert not torch.is_autocast_enabled("cuda")


def test_what_asks_about_cuda_is_given_back() -> None:
    is_enabled = torch.is_autocast_enabled
    cuda_autocast.install()()
    assert torch.is_autocast_enabled is is_enabled
