"""Sort out the arguments of a preflight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import UsageError


@dataclass(frozen=True)
class TrainingParts:
    """The parts of a training to check; each may be absent."""

    model: Any = None
    args: Any = None
    accelerator: Any = None
    optimizer: Any = None
    trainer: Any = None


def subject(model: object, args: object, optimizer: object) -> TrainingParts:
    """Sort out the arguments of `patchkit.preflight`.

    Raises:
        UsageError: an argument is of another kind, or there is nothing to check.
    """
    import torch

    if model is None and args is None and optimizer is None:
        raise UsageError(
            "preflight() has nothing to check: give it a trainer, or a model, its training "
            "arguments and, once there is one, its optimizer"
        )
    if _is_trainer(model):
        return _of_trainer(model, args, optimizer)
    if model is not None and not isinstance(model, torch.nn.Module):
        raise UsageError(_model_message(model))
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise UsageError(f"optimizer= must be a torch.optim.Optimizer, not {_kind(optimizer)}")
    if args is None:
        return TrainingParts(model, None, None, _unwrap(optimizer))
    if isinstance(args, type) or not (_has_precision_flags(args) or _is_accelerator(args)):
        raise UsageError(
            "args= must be training arguments (an object with `fp16` and `bf16`, such as "
            f"TrainingArguments or SFTConfig) or an accelerate.Accelerator, not {_kind(args)}"
        )
    if _is_accelerator(args):
        return TrainingParts(model, None, args, _unwrap(optimizer))
    return TrainingParts(model, args, None, _unwrap(optimizer))


def _of_trainer(trainer: Any, args: object, optimizer: object) -> TrainingParts:
    if args is not None or optimizer is not None:
        name = "optimizer=" if args is None else "args="
        raise UsageError(
            f"a trainer has its own arguments and optimizer: leave {name} out, or give "
            "the model instead of the trainer"
        )
    held = getattr(trainer, "optimizer", None)
    return TrainingParts(
        trainer.model,
        trainer.args,
        trainer.accelerator,
        _unwrap(held) if hasattr(held, "param_groups") else None,
        trainer,
    )


def _is_trainer(value: object) -> bool:
    import torch

    parts = ("model", "args", "accelerator", "train")
    return not isinstance(value, (type, torch.nn.Module)) and all(
        hasattr(value, name) for name in parts
    )


def _is_accelerator(value: object) -> bool:
    return hasattr(value, "mixed_precision") and hasattr(value, "native_amp")


def _has_precision_flags(value: object) -> bool:
    return hasattr(value, "fp16") and hasattr(value, "bf16")


def _unwrap(optimizer: Any) -> Any:
    """Return the optimizer inside Accelerate's wrapper."""
    inner = getattr(optimizer, "optimizer", None)
    return inner if hasattr(inner, "param_groups") else optimizer


def _model_message(value: object) -> str:
    expected = "model= must be a torch.nn.Module or a trainer, not "
    if isinstance(value, str):
        load = f"AutoModelForCausalLM.from_pretrained({value!r})"
        return f"{expected}the string {value!r}: load it first, as by {load}"
    if _is_accelerator(value) or _has_precision_flags(value):
        return f"{expected}{_kind(value)}, which belongs to args="
    return expected + _kind(value)


def _kind(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    article = "an" if type(value).__name__[0] in "aeiouAEIOU" else "a"
    return f"{article} {type(value).__name__}"
