"""In which dtype the head of a model that GRPO trains computes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from patchkit.lab import tiny, train


def trained_logits_dtypes(*, precision: train.Precision = "bf16", **args: Any) -> set[str]:
    """The dtypes, by name, of what the head returned where gradients are wanted, in one step.

    Args:
        precision: mixed precision of the run, and the dtype that the model is loaded in.
        args: training arguments.
    """
    tiny.go_offline()
    import torch

    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        # Where the trainer's recipe looks for it.
        model = tiny.build_causal_lm(Path(folder) / "causal-lm")
        vocabulary = len(tiny.load_tokenizer(model))

        def note(module: Any, inputs: Any, output: Any) -> None:
            head = isinstance(module, torch.nn.Linear) and module.out_features == vocabulary
            if head and output.requires_grad:
                seen.add(str(output.dtype).removeprefix("torch."))

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
    return seen
