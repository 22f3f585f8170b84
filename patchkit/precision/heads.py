"""Heads that compute in float32 inside a forward under autocast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .autocast import has_autocast

if TYPE_CHECKING:
    import torch


class WithoutAutocast:
    """A forward that runs in the dtypes of its operands, whatever autocast is on around it.

    Args:
        forward: takes the hidden states first; their device says which autocast is meant.
    """

    def __init__(self, forward: Callable[..., Any]) -> None:
        self.forward = forward

    def __call__(self, hidden_states: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        import torch

        if not has_autocast(hidden_states):
            return self.forward(hidden_states, *args, **kwargs)
        with torch.autocast(hidden_states.device.type, enabled=False):
            return self.forward(hidden_states, *args, **kwargs)


def cast_input_outside_autocast(head: torch.nn.Module, cast: Callable[..., Any]) -> None:
    """Register a hook that casts the input of a head, and run the head outside of autocast.

    Args:
        head: a module whose parameters have the dtype that it is to compute in.
        cast: a forward pre-hook.
    """
    head.register_forward_pre_hook(cast)
    head.forward = WithoutAutocast(head.forward)
