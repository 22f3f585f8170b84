"""Half-precision trainable parameters under a gradient scaler."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import PatchError
from ..settings import Setting, value
from ..text import megabytes, short_list
from .parameters import cast_in_place, is_plain_float

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("patchkit")

GRADSCALER_GUARD = Setting(
    name="gradscaler_guard",
    choices=("upcast", "error"),
    help="upcast: trainable parameters in half precision become float32 before the optimizer has "
    "any state; error: training stops and the message names them",
)

_NAMES_SHOWN = 5


class HalfPrecisionTrainableError(PatchError):
    """Trained parameters are in half precision, which a gradient scaler cannot unscale."""


def before_prepare(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `Accelerator.prepare`, before models are distributed and optimizers wrapped.

    And `Accelerator.prepare_optimizer`, for code that calls it directly.
    """
    if _unscales_here(instance):
        guard(instance, (*args, *kwargs.values()))
    return wrapped(*args, **kwargs)


def guard(accelerator: Any, prepared: Iterable[Any]) -> None:
    """Find half-precision parameters that the scaler would have to unscale, and upcast them.

    `GradScaler` raises on float16 gradients ("Attempting to unscale FP16 gradients.") and CUDA has
    no kernel for bfloat16 ones. The parameter objects stay the same; only their data is replaced.

    Raises:
        HalfPrecisionTrainableError: there are some, and the policy is `error`.
    """
    import torch

    prepared = list(prepared)
    models = [item for item in prepared if isinstance(item, torch.nn.Module)]
    optimizers = [item for item in prepared if isinstance(item, torch.optim.Optimizer)]
    try:
        _guard_parameters(accelerator, models, optimizers)
    finally:
        for model in models:
            unify_batch_norms(model.modules())


def _guard_parameters(
    accelerator: Any, models: list[torch.nn.Module], optimizers: list[torch.optim.Optimizer]
) -> None:
    import torch

    if optimizers:
        parameters = _optimizer_parameters(optimizers)
    elif _wraps_models(accelerator):
        # The wrapper sorts parameters into buckets by dtype: later is too late.
        parameters = (parameter for model in models for parameter in model.parameters())
    else:
        return
    half = [
        parameter for parameter in parameters if parameter.requires_grad and _is_half(parameter)
    ]
    if not half:
        return
    names = _names(half, [*models, *accelerator._models])
    if any(optimizer.state.get(parameter) for optimizer in optimizers for parameter in half):
        logger.warning(
            "patchkit: %s is in half precision, and the optimizer has state for it already, so it "
            "is left alone; the gradient scaler will refuse it. Cast the trainable parameters to "
            "float32 before the first step.",
            short_list(names, _NAMES_SHOWN),
        )
        return
    if value(GRADSCALER_GUARD) == "error":
        raise HalfPrecisionTrainableError(
            f"fp16 training with a gradient scaler needs float32 trainable parameters, but "
            f"{len(half)} are in half precision: {short_list(names, _NAMES_SHOWN)}. "
            "Load the model with dtype=torch.float32, or cast them before the trainer is made: "
            "`for p in model.parameters(): p.data = p.data.float() if p.requires_grad else p.data`"
        )
    for parameter in half:
        cast_in_place(parameter, torch.float32)
    if accelerator.is_local_main_process:
        logger.warning(
            "patchkit: %d trainable parameters were in half precision, which a gradient scaler "
            "cannot unscale; they are float32 now, %s more memory for the weights: %s",
            len(half),
            megabytes(sum(2 * parameter.numel() for parameter in half)),
            short_list(names, _NAMES_SHOWN),
        )


def unify_batch_norms(modules: Iterable[torch.nn.Module]) -> None:
    """Make batch norms float32 whose parameters and statistics are not all float16.

    They take float16 beside float32, or beside nothing but float16: neither bfloat16, nor float32
    parameters beside statistics in half precision, which are buffers that nobody upcasts.
    """
    import torch

    for module in modules:
        if isinstance(module, torch.nn.modules.batchnorm._NormBase):
            own = (*module._parameters.values(), *module._buffers.values())
            floats = [tensor for tensor in own if tensor is not None and is_plain_float(tensor)]
            dtypes = {tensor.dtype for tensor in floats}
            if dtypes - {torch.float32} and dtypes != {torch.float16}:
                for tensor in floats:
                    cast_in_place(tensor, torch.float32)


def _unscales_here(accelerator: Any) -> bool:
    """Tell whether gradients will be unscaled by torch's own scaler.

    FSDP shards parameters whose dtypes must agree and brings a scaler that takes float16;
    DeepSpeed and Megatron keep float32 copies of their own.
    """
    if accelerator.scaler is None or accelerator.mixed_precision != "fp16":
        return False
    return str(getattr(accelerator.distributed_type, "value", "")) not in (
        "FSDP",
        "DEEPSPEED",
        "MEGATRON_LM",
        "XLA",
    )


def _wraps_models(accelerator: Any) -> bool:
    return str(getattr(accelerator.distributed_type, "value", "NO")) != "NO"


def _is_half(parameter: torch.Tensor) -> bool:
    import torch

    return parameter.dtype in (torch.float16, torch.bfloat16)


def _optimizer_parameters(optimizers: Iterable[torch.optim.Optimizer]) -> Iterator[torch.Tensor]:
    seen: set[int] = set()
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield parameter


def _names(parameters: list[torch.Tensor], models: Iterable[torch.nn.Module]) -> list[str]:
    ids = set(map(id, parameters))
    names: dict[int, str] = {}
    for model in models:
        for name, parameter in model.named_parameters():
            if id(parameter) in ids:
                names.setdefault(id(parameter), name)
    return [
        names.get(id(parameter), f"a tensor of shape {tuple(parameter.shape)}")
        for parameter in parameters
    ]
