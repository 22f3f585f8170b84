"""Per-token log-probabilities and divergences from hidden states, in plain torch.

What TRL's Triton kernels compute, for devices that they do not run on. The logits of a stretch of
tokens exist at a time, and are computed again for the backward.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_LOGITS_AT_A_TIME = 2**24


def has_kernels_for(tensor: torch.Tensor) -> bool:
    """Tell whether Triton is installed, and drives the device that a tensor lies on."""
    return tensor.device.type in ("cuda", "xpu") and importlib.util.find_spec("triton") is not None


def log_probs(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    targets: torch.Tensor,
    temperature: float,
    chunk_size: int,
    softcap: float | None = None,
    scale: float = 1.0,
    outputs: tuple[str, ...] = (),
) -> tuple[torch.Tensor | None, ...]:
    """Compute what TRL's `ChunkedLogProbFunction.apply` does, from the same arguments.

    The projection is computed in the dtype of autocast, or else of `hidden`; all else in float32.

    Args:
        hidden: the last hidden states, one row for each token.
        weight: the head's weight, one row for each word.
        bias: the head's bias.
        targets: the word that each token is followed by.
        temperature: what logits are divided by.
        chunk_size: words at a time in the kernel; ignored.
        softcap: the bound of the logits, by `tanh`.
        scale: what logits are multiplied by, before the bound.
        outputs: which of the other four to compute.

    Returns:
        in float32, each with one number for a token: the target's log-probability; the entropy;
        and without gradient, the logarithm of the sum of squared probabilities, the mean logit,
        and whether the target is the first of the likeliest words. None for what is not asked.
    """
    import torch

    compute = _compute_dtype(hidden)

    def of_chunk(
        hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, target: torch.Tensor
    ) -> tuple[torch.Tensor | None, ...]:
        product = torch.nn.functional.linear(
            hidden.to(compute), weight.to(compute), None if bias is None else bias.to(compute)
        )
        logits = _transform(product.float(), scale, softcap, temperature)
        log_z = logits.logsumexp(-1)
        chosen = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        entropy = _entropy(logits) if "entropy" in outputs else None
        fixed = logits.detach()
        squares = (2 * fixed).logsumexp(-1) - 2 * log_z.detach()
        return (
            chosen - log_z,
            entropy,
            squares if "log_sum_sq_probs" in outputs else None,
            fixed.mean(-1) if "mean_logits" in outputs else None,
            fixed.argmax(-1) == target if "is_top1" in outputs else None,
        )

    head = _in_float32_if_trained(weight), _in_float32_if_trained(bias)
    chunks = _chunks(weight.shape[0], hidden, targets)
    return _join(of_chunk, ((rows, *head, target) for rows, target in chunks))


def divergence(
    student_hidden: torch.Tensor,
    student_weight: torch.Tensor,
    student_bias: torch.Tensor | None,
    teacher_hidden: torch.Tensor,
    teacher_weight: torch.Tensor,
    teacher_bias: torch.Tensor | None,
    beta: float,
    temperature: float = 1.0,
    student_scale: float = 1.0,
    student_softcap: float | None = None,
    teacher_scale: float = 1.0,
    teacher_softcap: float | None = None,
) -> tuple[torch.Tensor | None, ...]:
    """Compute what TRL's `ChunkedDivergenceFunction.apply` does, from the same arguments.

    Weights and states are rounded to the dtype of autocast, or else of the states, and multiplied
    in float32.

    Args:
        student_hidden: the last hidden states of the student, one row for each token.
        student_weight: its head's weight.
        student_bias: its head's bias.
        teacher_hidden: the same of the teacher, which gets no gradient.
        teacher_weight: its head's weight.
        teacher_bias: its head's bias.
        beta: 0 is the Kullback-Leibler divergence of the student from the teacher, 1 the reverse,
            and between them stands the generalized Jensen-Shannon divergence, whose mixture is
            `(1 - beta) * student + beta * teacher`.
        temperature: what the logits of both are divided by.
        student_scale: what the student's logits are multiplied by.
        student_softcap: the bound of the student's logits.
        teacher_scale: the same of the teacher.
        teacher_softcap: the same of the teacher.

    Returns:
        for each token, in float32, the divergence, and, without gradient, the student's entropy.
    """
    import torch

    student_dtype = _compute_dtype(student_hidden)
    teacher_dtype = _compute_dtype(teacher_hidden)

    def project(
        hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype
    ) -> torch.Tensor:
        with torch.autocast(hidden.device.type, enabled=False):
            return torch.nn.functional.linear(
                hidden.to(dtype).float(),
                weight.to(dtype).float(),
                None if bias is None else bias.float(),
            )

    def of_chunk(
        rows: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        teacher_rows: torch.Tensor,
    ) -> tuple[torch.Tensor | None, ...]:
        logits = project(rows, weight, bias, student_dtype)
        logits = _transform(logits, student_scale, student_softcap, temperature)
        with torch.no_grad():
            entropy = _entropy(logits)
            target = project(teacher_rows, teacher_weight, teacher_bias, teacher_dtype)
            target = _transform(target, teacher_scale, teacher_softcap, temperature)
            target = target.log_softmax(-1)
        return _jensen_shannon(logits.log_softmax(-1), target, beta), entropy

    head = _in_float32_if_trained(student_weight), student_bias
    chunks = _chunks(student_weight.shape[0], student_hidden, teacher_hidden.detach())
    return _join(of_chunk, ((rows, *head, teacher_rows) for rows, teacher_rows in chunks))


def _compute_dtype(hidden: torch.Tensor) -> torch.dtype:
    import torch

    device = hidden.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return hidden.dtype


def _in_float32_if_trained(parameter: torch.Tensor | None) -> torch.Tensor | None:
    """Cast a head: each chunk adds to its gradient, and half precision would lose digits."""
    return parameter.float() if parameter is not None and parameter.requires_grad else parameter


def _transform(
    logits: torch.Tensor, scale: float, softcap: float | None, temperature: float
) -> torch.Tensor:
    logits = logits * scale
    if softcap is not None:
        logits = softcap * (logits / softcap).tanh()
    return logits / temperature


def _entropy(logits: torch.Tensor) -> torch.Tensor:
    return logits.logsumexp(-1) - (logits.softmax(-1) * logits).sum(-1)


def _jensen_shannon(student: torch.Tensor, teacher: torch.Tensor, beta: float) -> torch.Tensor:
    import math

    import torch

    def divergence_of(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return (first.exp() * (first - second)).sum(-1)

    if beta in (0.0, 1.0):
        return divergence_of(student, teacher) if beta else divergence_of(teacher, student)
    mixture = torch.logaddexp(student + math.log1p(-beta), teacher + math.log(beta))
    return beta * divergence_of(teacher, mixture) + (1 - beta) * divergence_of(student, mixture)


def _chunks(vocabulary: int, *tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Split tensors into stretches of tokens; one empty stretch where there are no tokens."""
    rows = max(1, _LOGITS_AT_A_TIME // vocabulary)
    return zip(*(tensor.split(rows) for tensor in tensors), strict=True)


def _join(
    of_chunk: Callable[..., tuple[Any, ...]], chunks: Iterator[tuple[Any, ...]]
) -> tuple[torch.Tensor | None, ...]:
    import torch
    from torch.utils.checkpoint import checkpoint

    parts = [
        checkpoint(of_chunk, *chunk, use_reentrant=False, preserve_rng_state=False)
        for chunk in chunks
    ]
    return tuple(
        None if column[0] is None else torch.cat(column) for column in zip(*parts, strict=True)
    )
