"""Let Accelerate and DeepSpeed take the ranks of a CPU for those of GPUs.

On a CPU Accelerate knows DDP only: it silently leaves FSDP out, and DeepSpeed refuses fp16.
What shards parameters works on a CPU nevertheless, with gloo. So ranks are said to be those of
GPUs here, and their device stays the CPU.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any


def install() -> None:
    """Show the ranks as GPUs until this process ends; it must not have Accelerate's state yet.

    Nothing changes if CUDA is available.
    """
    import torch

    if torch.cuda.is_available():
        return
    import accelerate
    from accelerate.utils import DistributedType
    from transformers import training_args

    def prepare_backend(self: Any, *args: Any, **kwargs: Any) -> tuple[str, Any]:
        return "gloo", DistributedType.MULTI_GPU

    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    state: Any = accelerate.PartialState
    state._prepare_backend = prepare_backend
    # What FSDP offloads is pinned for an accelerator, and waits for its stream: here is none.
    tensor: Any = torch.Tensor
    tensor.pin_memory = lambda self, *args, **kwargs: self
    stream: Any = torch.cpu.Stream
    stream.synchronize = lambda self: None
    # Else `bf16=True` is refused without `use_cpu=True`, with which there is no DeepSpeed.
    arguments: Any = training_args
    arguments.is_torch_bf16_gpu_available = lambda: True
    with contextlib.suppress(ImportError):  # not installed
        from deepspeed.accelerator import get_accelerator

        get_accelerator().is_fp16_supported = lambda: True
