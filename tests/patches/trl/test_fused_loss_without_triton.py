"""The losses of TRL 1.15.0 in plain torch: the numbers of the kernels, and trainers that train."""

from __future__ import annotations

import math

import pytest
import torch
from patchkit.patches.trl import _fused_loss as fused_loss

import patchkit
from patchkit.lab import tiny
from patchkit.lab.reproduce import train_in_temporary_folder

from ..due import only_if_due

ID = "trl-fused-loss-without-triton"
OUTPUTS = ("log_probs", "entropy", "log_sum_sq_probs", "mean_logits", "is_top1")

due = only_if_due(ID)


def plain(hidden, weight, bias, targets, temperature, softcap, scale):
    """The same numbers from the whole logits at once."""
    logits = torch.nn.functional.linear(hidden, weight.to(hidden.dtype), bias).float() * scale
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    logits = logits / temperature
    log_p = logits.log_softmax(-1)
    return (
        log_p[torch.arange(len(targets)), targets],
        -(log_p.exp() * log_p).sum(-1),
        log_p.exp().square().sum(-1).log(),
        logits.mean(-1),
        logits.argmax(-1) == targets,
    )


def head(tokens: int, words: int, dtype=torch.float32, *, bias: bool = True):
    torch.manual_seed(0)
    hidden = torch.randn(tokens, 16).to(dtype).requires_grad_()
    weight = torch.randn(words, 16).to(dtype).requires_grad_()
    term = torch.randn(words).to(dtype).requires_grad_() if bias else None
    return hidden, weight, term, torch.randint(words, (tokens,))


def gradients(loss, tensors):
    return torch.autograd.grad(loss, [tensor for tensor in tensors if tensor is not None])


CASES = {
    "plain": (1.0, None, 1.0),
    "temperature": (0.7, None, 1.0),
    "softcap": (1.0, 3.0, 1.0),
    "all": (1.3, 5.0, 0.25),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_log_probs(monkeypatch, case: str, bias: bool) -> None:
    """Values and gradients, whatever the stretches of tokens are."""
    temperature, softcap, scale = CASES[case]
    hidden, weight, term, targets = head(7, 11, bias=bias)
    expected = plain(hidden, weight, term, targets, temperature, softcap, scale)
    loss = expected[0].sum() + 0.3 * expected[1].sum()
    wanted = gradients(loss, (hidden, weight, term))
    for at_a_time in (2**24, 30, 1):
        monkeypatch.setattr(fused_loss, "_LOGITS_AT_A_TIME", at_a_time)
        found = fused_loss.log_probs(
            hidden, weight, term, targets, temperature, 4, softcap, scale, OUTPUTS
        )
        for tensor, other in zip(found, expected, strict=True):
            torch.testing.assert_close(tensor, other)
        assert [tensor.requires_grad for tensor in found] == [True, True, False, False, False]
        loss = found[0].sum() + 0.3 * found[1].sum()
        torch.testing.assert_close(gradients(loss, (hidden, weight, term)), wanted)


def test_only_what_is_asked_for() -> None:
    arguments = head(3, 5)
    found = fused_loss.log_probs(*arguments, 1.0, 4, None, 1.0, ("log_probs", "is_top1"))
    assert [gradient is None for gradient in found] == [False, True, True, True, False]


def test_no_tokens_are_a_differentiable_zero() -> None:
    """A batch with nothing but prompts."""
    hidden, weight, bias, targets = head(0, 5)
    found, *_ = fused_loss.log_probs(hidden, weight, bias, targets, 1.0, 4, outputs=OUTPUTS)
    assert found.shape == (0,)
    for gradient in gradients(found.sum(), (hidden, weight, bias)):
        assert not gradient.any()


def test_a_tie_goes_to_the_first_word() -> None:
    weight = torch.ones(3, 16)
    found = fused_loss.log_probs(
        torch.ones(3, 16), weight, None, torch.tensor([0, 1, 2]), 1.0, 4, outputs=OUTPUTS
    )
    assert found[-1].tolist() == [True, False, False]


def test_half_precision_sums_the_head_s_gradient_in_float32(monkeypatch) -> None:
    """Else each stretch of tokens would round it."""
    hidden, weight, _, targets = head(64, 11, torch.bfloat16, bias=False)
    wanted = gradients(plain(hidden, weight, None, targets, 1.0, None, 1.0)[0].sum(), (weight,))
    monkeypatch.setattr(fused_loss, "_LOGITS_AT_A_TIME", 11)
    found = fused_loss.log_probs(hidden, weight, None, targets, 1.0, 4)[0]
    assert found.dtype == torch.float32
    (gradient,) = gradients(found.sum(), (weight,))
    assert gradient.dtype == torch.bfloat16
    exact = [tensor.detach().float().requires_grad_() for tensor in (hidden, weight)]
    (reference,) = gradients(plain(*exact, None, targets, 1.0, None, 1.0)[0].sum(), exact[1:])
    error, whole = (gradient - reference).norm(), (wanted[0] - reference).norm()
    assert error < 1.5 * whole


def test_autocast_decides_the_dtype_of_the_projection() -> None:
    hidden, weight, bias, targets = head(6, 11)
    with torch.autocast("cpu", torch.bfloat16):
        found = fused_loss.log_probs(hidden, weight, bias, targets, 1.0, 4)[0]
        logits = torch.nn.functional.linear(hidden, weight, bias)
    expected = logits.float().log_softmax(-1)[torch.arange(6), targets]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("at_a_time", [2**24, 30])
def test_divergence(monkeypatch, beta: float, at_a_time: int) -> None:
    monkeypatch.setattr(fused_loss, "_LOGITS_AT_A_TIME", at_a_time)
    hidden, weight, bias, _ = head(7, 11)
    taught, teacher = torch.randn(7, 8, requires_grad=True), torch.randn(11, 8, requires_grad=True)
    student_log = ((hidden @ weight.T + bias) * 0.5 / 1.3).log_softmax(-1)
    teacher_log = (3.0 * torch.tanh(taught @ teacher.T / 3.0) / 1.3).log_softmax(-1).detach()
    mixture = ((1 - beta) * student_log.exp() + beta * teacher_log.exp()).log()

    def kl(one, other):
        return (one.exp() * (one - other)).sum(-1)

    expected = {
        0.0: lambda: kl(teacher_log, student_log),
        1.0: lambda: kl(student_log, teacher_log),
    }.get(beta, lambda: beta * kl(teacher_log, mixture) + (1 - beta) * kl(student_log, mixture))()
    found, entropy = fused_loss.divergence(
        hidden, weight, bias, taught, teacher, None, beta, 1.3, 0.5, None, 1.0, 3.0
    )
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(entropy, -(student_log.exp() * student_log).sum(-1))
    assert not entropy.requires_grad
    wanted = gradients(expected.sum(), (hidden, weight, bias))
    torch.testing.assert_close(gradients(found.sum(), (hidden, weight, bias)), wanted)
    assert torch.autograd.grad(found.sum() + hidden.sum(), taught, allow_unused=True) == (None,)


def test_the_numbers_of_the_next_release() -> None:
    """1.16 has its own way without Triton."""
    kernels = pytest.importorskip("trl.kernels.chunked_logprob")
    if not hasattr(kernels, "_use_triton"):
        pytest.skip("this release computes them with Triton only")
    from trl.kernels.chunked_divergence import ChunkedDivergenceFunction

    for dtype in (torch.float32, torch.bfloat16):
        hidden, weight, bias, targets = head(9, 13, dtype)
        arguments = (hidden, weight, bias, targets, 0.8, 4, 3.0, 0.5, OUTPUTS)
        mine = fused_loss.log_probs(*arguments)
        theirs = kernels.ChunkedLogProbFunction.apply(*arguments)
        accuracy = {} if dtype == torch.float32 else {"rtol": 2**-6, "atol": 2**-6}
        for tensor, other in zip(mine, theirs, strict=True):
            torch.testing.assert_close(tensor, other, **accuracy)
        both = [
            gradients(outputs[0].sum() + outputs[1].sum(), (hidden, weight, bias))
            for outputs in (mine, theirs)
        ]
        torch.testing.assert_close(*both, **{**accuracy, **({"atol": 0.1} if accuracy else {})})
        _, other, _, _ = head(9, 13, dtype)
        arguments = (hidden, weight, bias, hidden * 2, other, None, 0.4, 0.9, 1.0, None, 0.5, 4.0)
        torch.testing.assert_close(
            fused_loss.divergence(*arguments), ChunkedDivergenceFunction.apply(*arguments)
        )


TRAINERS = ("sft", "dpo", "kto", "grpo", "rloo", "distillation")


@due
@pytest.mark.skipif(torch.cuda.is_available(), reason="the kernels run on a GPU")
@pytest.mark.parametrize("trainer", TRAINERS)
def test_trainers(trainer: str) -> None:
    options = {"precision": "fp32", "quantization": "none", "steps": 2}
    with pytest.raises((AttributeError, ImportError), match=r"'apply'|triton"):
        train_in_temporary_folder(trainer, **options)
    with patchkit.patched(only=ID, strict=True):
        outcome = train_in_temporary_folder(trainer, **options)
    assert outcome.changed
    assert all(map(math.isfinite, outcome.losses))


@due
@pytest.mark.parametrize("autocast", [False, True])
def test_the_loss_of_the_model_s_own_forward(tmp_path, autocast: bool) -> None:
    """From whole logits; values and gradients, with labels that are masked."""
    from trl.trainer.utils import add_fused_lm_head

    model = tiny.load(tiny.build_causal_lm(tmp_path, dtype="float32"), dtype="float32")
    ids = torch.arange(20).reshape(2, 10)
    labels = ids.masked_fill(ids % 10 < 3, -100)

    def loss_and_gradients(**options):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = model(input_ids=ids, labels=labels, **options).loss
        model.zero_grad()
        loss.backward()
        return loss.detach(), [parameter.grad.clone() for parameter in model.parameters()]

    whole, wanted = loss_and_gradients()
    with patchkit.patched(only=ID, strict=True):
        add_fused_lm_head(model)
    fused, found = loss_and_gradients(fused_lm_head=True)
    torch.testing.assert_close(fused, whole, rtol=1e-5, atol=0)
    for tensor, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(tensor, other, rtol=2e-2 if autocast else 1e-4, atol=1e-4)
