"""Watch the training of a framework's command, and let fp16 take CUDA's path on a CPU.

Each interpreter of the command imports this as it starts, and writes lines of JSON. It changes no
name, signature or argument that a framework can see. Chance is seeded: not all frameworks do.
"""

from __future__ import annotations

import functools
import hashlib
import os
import random
import sys
from collections import Counter
from typing import Any

from workbench.sweep.observing import ObservingFinder, seed, seed_adapters, write

FOLDER = os.environ.get("FRAMEWORKS_OBSERVED", "")


def take_cudas_path(module: Any) -> None:
    """Give fp16 the scaler, the autocast and the refusals that it has on CUDA."""
    from patchkit.lab import cuda_fp16

    cuda_fp16.install()


def allow_bf16(module: Any) -> None:
    """Let bf16 be asked for without `use_cpu`, which not all frameworks pass on."""
    module.is_torch_bf16_gpu_available = lambda: True


def trained(model: Any) -> dict[str, Any]:
    """Return the dtypes of what is trained, and a digest of its values to the last bit."""
    import torch

    digest, dtypes = hashlib.sha256(), Counter[str]()
    for name, parameter in sorted(model.named_parameters()):
        if parameter.requires_grad:
            dtypes[str(parameter.dtype).removeprefix("torch.")] += 1
            values = parameter.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(name.encode() + values.numpy().tobytes())
    return {"dtypes": dict(sorted(dtypes.items())), "weights": digest.hexdigest()[:16]}


def watch_training(handler: Any) -> None:
    """Write when a training begins, what it logs, and what it has trained."""

    def watch(name: str, event: Any) -> None:
        original = getattr(handler, name)

        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            write(FOLDER, **event(self, *args, **kwargs))
            return original(self, *args, **kwargs)

        setattr(handler, name, call)

    def numbers(self: Any, args: Any, state: Any, control: Any, logs: Any = None) -> dict[str, Any]:
        logs = logs or {}
        # SetFit has a name of its own for it.
        found = {
            "loss": logs.get("loss", logs.get("embedding_loss")),
            "grad_norm": logs.get("grad_norm"),
        }
        return {name: float(value) for name, value in found.items() if value is not None}

    watch("on_train_begin", lambda self, *args: {"began": True})
    watch("on_log", numbers)
    watch("on_train_end", lambda self, *args: trained(self.model))


def watch_trainer(module: Any) -> None:
    watch_training(module.CallbackHandler)


def watch_adapters(module: Any) -> None:
    seed_adapters(module.PeftModel)


if FOLDER:
    random.seed(0)
    watched = {
        "accelerate": take_cudas_path,
        "numpy": seed,
        "peft.peft_model": watch_adapters,
        "torch": seed,
        "transformers.trainer_callback": watch_trainer,
        "transformers.utils.import_utils": allow_bf16,
    }
    sys.meta_path.insert(0, ObservingFinder(watched))
