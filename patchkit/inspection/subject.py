"""What a user gave to a preflight, sorted out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import UsageError


@dataclass(frozen=True)
class Subject:
    """What is to be looked at; each may be absent.

    Args:
        model: a `torch.nn.Module`.
        args: training arguments.
        accelerator: an `accelerate.Accelerator`.
        optimizer: a `torch.optim.Optimizer`, without Accelerate's wrapper.
    """

    model: Any = None
    args: Any = None
    accelerator: Any = None
    optimizer: Any = None


def subject(model: object, args: object, optimizer: object) -> Subject:
    """Sort out the arguments of `patchkit.preflight`.

    Raises:
        UsageError: one is of another kind, or there is nothing to look at.
    """
    import torch

    if model is None and args is None and optimizer is None:
        raise UsageError(
            "preflight() has nothing to look at: give it a trainer, or a model, its training "
            "arguments and, once there is one, its optimizer"
        )
    if _is_trainer(model):
        return _of_trainer(model, args, optimizer)
    if model is not None and not isinstance(model, torch.nn.Module):
        raise UsageError(_not_a_model(model))
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise UsageError(f"optimizer= must be a torch.optim.Optimizer, not {_kind(optimizer)}")
    if args is None:
        return Subject(model, None, None, _unwrapped(optimizer))
    if isinstance(args, type) or not (_says_precision(args) or _is_accelerator(args)):
        raise UsageError(
            "args= must be training arguments (an object with `fp16` and `bf16`, such as "
            f"TrainingArguments or SFTConfig) or an accelerate.Accelerator, not {_kind(args)}"
        )
    if _is_accelerator(args):
        return Subject(model, None, args, _unwrapped(optimizer))
    return Subject(model, args, None, _unwrapped(optimizer))


def _of_trainer(trainer: Any, args: object, optimizer: object) -> Subject:
    if args is not None or optimizer is not None:
        name = "optimizer=" if args is None else "args="
        raise UsageError(
            f"a trainer brings its arguments and its optimizer with it: leave {name} out, or give "
            "the model in place of the trainer"
        )
    held = getattr(trainer, "optimizer", None)
    return Subject(
        trainer.model,
        trainer.args,
        trainer.accelerator,
        _unwrapped(held) if hasattr(held, "param_groups") else None,
    )


def _is_trainer(value: object) -> bool:
    import torch

    parts = ("model", "args", "accelerator", "train")
    return not isinstance(value, (type, torch.nn.Module)) and all(
        hasattr(value, name) for name in parts
    )


def _is_accelerator(value: object) -> bool:
    return hasattr(value, "mixed_precision") and hasattr(value, "native_amp")


def _says_precision(value: object) -> bool:
    return hasattr(value, "fp16") and hasattr(value, "bf16")


def _unwrapped(optimizer: Any) -> Any:
    """The optimizer inside Accelerate's wrapper."""
    inner = getattr(optimizer, "optimizer", None)
    return inner if hasattr(inner, "param_groups") else optimizer


def _not_a_model(value: object) -> str:
    expected = "model= must be a torch.nn.Module or a trainer, not "
    if isinstance(value, str):
        load = f"AutoModelForCausalLM.from_pretrained({value!r})"
        return f"{expected}the string {value!r}: load it first, as by {load}"
    if _is_accelerator(value) or _says_precision(value):
        return f"{expected}{_kind(value)}, which belongs to args="
    return expected + _kind(value)


def _kind(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    article = "an" if type(value).__name__[0] in "aeiouAEIOU" else "a"
    return f"{article} {type(value).__name__}"
