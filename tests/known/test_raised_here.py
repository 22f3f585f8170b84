"""Errors as the installed PyTorch, PEFT and Transformers raise them, not as somebody wrote them down."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

from patchkit.known.answering import answered
from patchkit.known.reading import read

torch = pytest.importorskip("torch")
half, bfloat, full = torch.float16, torch.bfloat16, torch.float32
F = torch.nn.functional


def ones(*shape: int, dtype=full):
    return torch.ones(shape, dtype=dtype)


def unscale() -> None:
    scaler = torch.amp.GradScaler("cpu")
    weight = torch.nn.Parameter(ones(2, dtype=half))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale((weight * 1.0).sum()).backward()
    scaler.unscale_(optimizer)


def nothing_to_check() -> None:
    scaler = torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD([torch.nn.Parameter(ones(2))], lr=1.0)
    scaler.scale(ones(1))
    scaler.step(optimizer)


def optimizer_states() -> None:
    weight = torch.nn.Parameter(ones(2, dtype=bfloat))
    optimizer = torch.optim.AdamW([weight], foreach=True)
    weight.grad = ones(2, dtype=bfloat)
    optimizer.step()
    for state in optimizer.state.values():
        state["exp_avg"] = state["exp_avg"].float()
    optimizer.step()


def checkpointed() -> None:
    from torch.utils.checkpoint import checkpoint

    layer, calls = torch.nn.Linear(2, 2), []

    def run(x):
        calls.append(1)
        return layer(x) if len(calls) == 1 else layer(x).double()

    checkpoint(run, ones(1, 2).requires_grad_(), use_reentrant=False).sum().backward()


BELOW_TRAINER = '  File "/x/site-packages/transformers/trainer.py", line 1, in train'
"""The rows that any code may raise are told apart by whether a library of this field calls it."""

RAISING: dict[str, tuple[Callable[[], object], str]] = {
    "linear": (lambda: F.linear(ones(1, 2), ones(2, 2, dtype=bfloat)), "dtypes-differ"),
    "matmul": (lambda: ones(2, 2) @ ones(2, 2, dtype=half), "dtypes-differ"),
    "linear with bias": (
        lambda: F.linear(ones(1, 2, dtype=bfloat), ones(2, 2), ones(2)),
        "dtypes-differ",
    ),
    "bytes": (lambda: ones(2, 2) @ ones(2, 2, dtype=torch.uint8), "packed-weight-as-matrix"),
    "packed shapes": (lambda: ones(2, 4) @ ones(1, 32768), "packed-weight-shapes"),
    "convolution": (
        lambda: F.conv1d(ones(1, 1, 4), ones(1, 1, 2, dtype=bfloat), ones(1, dtype=bfloat)),
        "convolution-dtype",
    ),
    "attention mask": (
        lambda: F.scaled_dot_product_attention(
            *[ones(1, 1, 2, 4)] * 3, attn_mask=ones(2, 2, dtype=bfloat)
        ),
        "sdpa-mask-dtype",
    ),
    "attention": (
        lambda: F.scaled_dot_product_attention(
            ones(1, 1, 2, 4), ones(1, 1, 2, 4, dtype=bfloat), ones(1, 1, 2, 4)
        ),
        "attention-dtypes-differ",
    ),
    "embedding": (lambda: F.embedding(ones(2), ones(4, 4)), "embedding-indices"),
    "index": (lambda: F.embedding(torch.tensor([9]), ones(4, 4)), "index-out-of-range"),
    "index put": (
        lambda: ones(3).index_put_((torch.tensor([0]),), ones(1, dtype=bfloat)),
        "index-put-dtypes",
    ),
    "masked scatter": (
        lambda: ones(3).masked_scatter_(ones(3, dtype=torch.bool), ones(3, dtype=bfloat)),
        "masked-scatter-dtypes",
    ),
    "index add": (
        lambda: ones(3).index_add_(0, torch.tensor([0]), ones(1, dtype=bfloat)),
        "index-add-dtypes",
    ),
    "overflow": (
        lambda: ones(2, dtype=half).masked_fill(ones(2) > 0, torch.finfo(full).min),
        "mask-minimum-overflows",
    ),
    "into bytes": (
        lambda: ones(2, dtype=torch.uint8).mul_(1.5),
        "cast-into-packed-storage",
    ),
    "decomposition": (lambda: torch.linalg.svd(ones(2, 2, dtype=bfloat)), "decomposition-in-half"),
    "gradients of bytes": (
        lambda: ones(2, dtype=torch.uint8).requires_grad_(),
        "gradients-of-packed-copies",
    ),
    "initialized bytes": (
        lambda: torch.nn.init.normal_(ones(2, dtype=torch.uint8)),
        "normal-of-packed-weight",
    ),
    "labels": (
        lambda: F.cross_entropy(ones(2, 3), ones(2)),
        "labels-not-integers",
    ),
    "label out of range": (
        lambda: F.cross_entropy(ones(2, 3), torch.tensor([1, 9])),
        "label-out-of-range",
    ),
    "numpy": (lambda: ones(2, dtype=bfloat).numpy(), "numpy-bfloat16"),
    "dict": (lambda: torch.tensor({"input_ids": [1]}), "infer-dtype-of-encoding"),
    "no gradient": (lambda: ones(1).sum().backward(), "nothing-requires-grad"),
    "no parameters": (lambda: torch.optim.SGD([], lr=1), "optimizer-without-parameters"),
    "devices": (lambda: torch.nn.Linear(2, 2, device="meta").to("cpu"), "meta-tensor"),
    "scaler": (unscale, "unscale-float16"),
    "nothing for the scaler": (nothing_to_check, "nothing-checked-for-inf"),
    "optimizer": (optimizer_states, "optimizer-state-dtype"),
    "checkpointing": (checkpointed, "checkpoint-recomputed-otherwise"),
    "sampling": (
        lambda: torch.multinomial(torch.tensor([float("nan"), 1.0]), 1),
        "sampling-from-nan",
    ),
    "no CUDA": (lambda: ones(1).to("cuda"), "no-cuda"),
    "unpadded": (lambda: torch.tensor([[1, 2], [1]]), "unable-to-create-tensor"),
    "stacked": (lambda: torch.stack([ones(1), ones(2)]), "stack-of-unequal"),
    "sizes": (lambda: ones(3) + ones(4), "tensor-sizes-differ"),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_is_raised_here(name: str) -> None:
    raising, row = RAISING[name]
    try:
        raising()
    except Exception:
        text = traceback.format_exc()
    else:
        pytest.skip("this PyTorch does not raise it")
    called = text.replace("\n", f"\n{BELOW_TRAINER}\n", 1)
    found = answered(read(called), lambda _: None)
    assert [answer.id for answer in found.answers][:1] == [row], called
