"""Heads that compute in float32 inside a forward under autocast, and what a training sees of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from patchkit.precision.autocast import has_autocast

if TYPE_CHECKING:
    import torch

    from patchkit.lab import train


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


def trained_logits_dtypes(*, precision: train.Precision = "bf16", **args: Any) -> set[str]:
    """Return the dtypes, by name, of the head's outputs with gradients, in one step.

    Args:
        precision: mixed precision of the run, and the dtype that the model is loaded in.
        args: training arguments.
    """
    import tempfile
    from pathlib import Path

    from patchkit.lab import tiny, train

    tiny.go_offline()
    import torch

    dtypes: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        model = tiny.build_causal_lm(Path(folder) / "model")
        vocabulary = len(tiny.load_tokenizer(model))

        def note(module: Any, inputs: Any, output: Any) -> None:
            head = isinstance(module, torch.nn.Linear) and module.out_features == vocabulary
            if head and output.requires_grad:
                dtypes.add(str(output.dtype).removeprefix("torch."))

        hook = torch.nn.modules.module.register_module_forward_hook(note)
        try:
            train.train(
                "grpo",
                precision=precision,
                quantization="none",
                steps=1,
                folder=Path(folder),
                args=args,
            )
        finally:
            hook.remove()
    return dtypes
