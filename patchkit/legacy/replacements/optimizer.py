"""The AdamW of Transformers before 4.50."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer


class AdamW(Optimizer):
    """Adam with decoupled weight decay, which is taken from weights that have been updated.

    PyTorch's has other defaults, and adds eps to a corrected denominator.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        betas: how slowly the means of the gradient and of its square change.
        eps: added to the denominator.
        weight_decay: the share of a weight that goes, times the learning rate.
        correct_bias: take into account that both means begin at zero.
        no_deprecation_warning: without effect; there is no warning.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        correct_bias: bool = True,
        no_deprecation_warning: bool = False,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr} - should be >= 0.0")
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"Invalid beta parameters: {betas} - should be in [0.0, 1.0)")
        if eps < 0:
            raise ValueError(f"Invalid epsilon value: {eps} - should be >= 0.0")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "correct_bias": correct_bias,
            },
        )

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, group)
        return loss

    def _update(self, weight: torch.Tensor, group: dict[str, Any]) -> None:
        gradient = weight.grad
        assert gradient is not None
        if gradient.is_sparse:
            raise RuntimeError(
                "Adam does not support sparse gradients, please consider SparseAdam instead"
            )
        state = self.state[weight]
        if not state:
            state["step"] = 0
            state["exp_avg"] = torch.zeros_like(weight)
            state["exp_avg_sq"] = torch.zeros_like(weight)
        state["step"] += 1
        slow, slower = group["betas"]
        mean: torch.Tensor = state["exp_avg"].lerp_(gradient, 1 - slow)
        square: torch.Tensor = state["exp_avg_sq"]
        square.mul_(slower).addcmul_(gradient, gradient, value=1 - slower)
        size = group["lr"]
        if group["correct_bias"]:
            steps = state["step"]
            size *= math.sqrt(1 - slower**steps) / (1 - slow**steps)
        weight.addcdiv_(mean, square.sqrt().add_(group["eps"]), value=-size)
        if group["weight_decay"] > 0:
            weight.mul_(1 - group["lr"] * group["weight_decay"])
