"""Emulate CUDA's fp16 training on a CPU: float16 autocast, a gradient scaler, its refusals.

Accelerate gives a CPU neither under `mixed_precision="fp16"`, the CPU's unscale kernel takes
bfloat16 gradients that CUDA's refuses, and its autocast casts other operators than CUDA's. So bugs
of fp16 training do not show without a GPU, unless all of this is put in place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from patchkit.lab import cuda_autocast

if TYPE_CHECKING:
    import torch

_UNSCALE = "_amp_foreach_non_finite_check_and_unscale_"
_MARK = "_patchkit_cuda_fp16"


@contextmanager
def cuda_fp16_on_cpu() -> Iterator[None]:
    """Make every `Accelerator` created inside train fp16 on a CPU as it would on CUDA.

    Nothing changes if CUDA is available. An `Accelerator` made inside keeps its scaler.
    """
    undo = install()
    try:
        yield
    finally:
        undo()


def install() -> Callable[[], None]:
    """Do what `cuda_fp16_on_cpu` does, for good; a second call changes nothing.

    Returns:
        A function that undoes this call.
    """
    import accelerate
    import torch

    unscale = getattr(torch, _UNSCALE)
    if torch.cuda.is_available() or hasattr(unscale, _MARK):
        return lambda: None
    init = accelerate.Accelerator.__init__
    setattr(torch, _UNSCALE, _refusing_bfloat16(unscale))
    accelerate.Accelerator.__init__ = _with_scaler(init)
    undo_autocast = cuda_autocast.install()

    def undo() -> None:
        undo_autocast()
        setattr(torch, _UNSCALE, unscale)
        accelerate.Accelerator.__init__ = init

    return undo


def _refusing_bfloat16(unscale: Callable[..., None]) -> Callable[..., None]:
    import torch

    # CUDA compiles this kernel for float64, float32 and float16 only.
    @functools.wraps(unscale)
    def unscale_or_refuse(
        grads: Sequence[torch.Tensor], found_inf: torch.Tensor, inv_scale: torch.Tensor
    ) -> None:
        if any(grad.dtype == torch.bfloat16 for grad in grads):
            raise NotImplementedError(f"\"{_UNSCALE}cuda\" not implemented for 'BFloat16'")
        unscale(grads, found_inf, inv_scale)

    setattr(unscale_or_refuse, _MARK, True)
    return unscale_or_refuse


def _with_scaler(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if self.state.mixed_precision == "fp16" and self.device.type == "cpu":
            handler = self.scaler_handler
            options = {} if handler is None else handler.to_kwargs()
            self.native_amp = True
            self.scaler = _scaler(self)("cpu", **options)

    return initialise


def _scaler(accelerator: Any) -> Any:
    """Return the class of the scaler that Accelerate would take."""
    import torch

    if accelerator.distributed_type == "FSDP" and not getattr(accelerator, "is_fsdp2", False):
        from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

        return ShardedGradScaler
    return torch.amp.GradScaler
