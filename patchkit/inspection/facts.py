"""All that the checks ask about, gathered once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..precision.adapters import fsdp_version, uses_deepspeed, uses_fsdp
from ..settings import requested_dtype
from .anatomy import Anatomy, Parameter, look_at
from .hardware import Hardware, default_device, probe
from .subject import Subject

if TYPE_CHECKING:
    import torch

_HALF = {"fp16": "float16", "bf16": "bfloat16"}


@dataclass(frozen=True)
class Facts:
    """What a training is made of.

    Args:
        subject: model, arguments, accelerator and optimizer.
        anatomy: the model's parameters and quantized layers.
        hardware: the device that trains.
        engine: who else holds the parameters: `fsdp1`, `fsdp2`, `deepspeed`, `megatron`; or empty.
        wanted: `float16` or `bfloat16` where mixed precision was asked for, else None.
        autocast: the dtype that autocast will run in; None where there is none.
        scaler: whether torch's own gradient scaler will unscale the gradients.
        requested: the name of the dtype given to `apply(dtype=…)`, if any.
        applied: ids of the patches that are applied.
    """

    subject: Subject
    anatomy: Anatomy
    hardware: Hardware
    engine: str = ""
    wanted: str | None = None
    autocast: str | None = None
    scaler: bool = False
    requested: str | None = None
    applied: frozenset[str] = field(default=frozenset())

    @property
    def model(self) -> Any:
        return self.subject.model

    @property
    def args(self) -> Any:
        return self.subject.args

    @property
    def optimizer(self) -> Any:
        return self.subject.optimizer

    @property
    def target(self) -> str | None:
        """The dtype that layers are to compute in: what `apply` was told, else the arguments."""
        return self.requested or self.wanted

    @property
    def trainer_made(self) -> bool:
        return self.args is not None and self.subject.accelerator is not None

    @cached_property
    def half_trainable(self) -> tuple[Parameter, ...]:
        """The trained parameters in float16 or bfloat16."""
        import torch

        half = (torch.float16, torch.bfloat16)
        return tuple(one for one in self.anatomy.trainable if one.plain and one.dtype in half)

    @cached_property
    def mostly_trained(self) -> bool:
        """Whether most of the model is trained, so that it is no matter of adapters."""
        size = sum(int(one.tensor.numel()) for one in self.anatomy.parameters)
        return 2 * sum(int(one.tensor.numel()) for one in self.anatomy.trainable) > size

    @property
    def learning_rate(self) -> float | None:
        """The highest that is known: of the optimizer's groups, else of the arguments."""
        if self.optimizer is not None:
            rates = [float(group.get("lr", 0.0)) for group in self.optimizer.param_groups]
            if any(rates):
                return max(rates)
        rate = getattr(self.args, "learning_rate", None)
        return None if rate is None else float(rate)

    @cached_property
    def optimizer_kind(self) -> str:
        """What updates the parameters, such as `torch.optim.adamw.AdamW` or `adamw_torch_fused`."""
        if self.optimizer is not None:
            kind = type(self.optimizer)
            return f"{kind.__module__}.{kind.__qualname__}"
        name = getattr(self.args, "optim", "")
        return str(getattr(name, "value", name) or "")

    @property
    def has_optimizer_state(self) -> bool:
        return self.optimizer is not None and len(self.optimizer.state) > 0

    def describe(self) -> str:
        """What was looked at, in one line."""
        parts = []
        if self.model is not None:
            parts.append(
                f"{type(self.model).__name__} ({len(self.anatomy.parameters)} parameters, "
                f"{len(self.anatomy.trainable)} trained, {len(self.anatomy.quantized)} quantized "
                "layers)"
            )
        for one in (self.subject.args, self.subject.accelerator, self.optimizer):
            if one is not None:
                parts.append(type(one).__name__)
        precision = f"{self.wanted} mixed precision" if self.wanted else "no mixed precision"
        engine = f" under {self.engine}" if self.engine else ""
        return f"{', '.join(parts)}; {precision}{engine} on {self.hardware}"


def gather(
    subject: Subject,
    *,
    hardware: Hardware | None = None,
    applied: frozenset[str] = frozenset(),
) -> Facts:
    """Look at everything once; nothing is run and nothing changed.

    Args:
        subject: what the user gave.
        hardware: the device that trains; asked of the accelerator or of torch if None.
        applied: ids of the patches that are applied.
    """
    hardware = hardware or probe(_device(subject))
    engine = _engine(subject)
    wanted = _wanted(subject)
    if subject.accelerator is not None:
        autocast = wanted if subject.accelerator.native_amp else None
        scaler = subject.accelerator.scaler is not None
    else:
        elsewhere = engine in ("deepspeed", "megatron")
        ignored = elsewhere or (wanted == "float16" and hardware.type == "cpu")
        autocast = None if ignored else wanted
        scaler = autocast == "float16"
    # FSDP of the first kind brings a scaler of its own, which takes float16.
    return Facts(
        subject=subject,
        anatomy=_anatomy(subject.model, engine),
        hardware=hardware,
        engine=engine,
        wanted=wanted,
        autocast=autocast,
        scaler=scaler and engine in ("", "fsdp2"),
        requested=requested_dtype(),
        applied=applied,
    )


def _anatomy(model: torch.nn.Module | None, engine: str) -> Anatomy:
    if model is None:
        return Anatomy()
    if not engine.startswith("fsdp"):
        return look_at(model)
    adapted = hasattr(model, "peft_config")
    if adapted and engine == "fsdp2":  # Accelerate makes nothing of PEFT's policy there
        return look_at(model)
    return look_at(model, _fsdp_blocks(model), leaves_apart=adapted)


def _fsdp_blocks(model: Any) -> frozenset[str]:
    """The classes that FSDP wraps one by one: what the launcher names, else what the model does."""
    import os

    named = os.environ.get("FSDP_TRANSFORMER_CLS_TO_WRAP", "")
    if named:
        return frozenset(named.split(","))
    return frozenset(getattr(model, "_no_split_modules", None) or ())


def _engine(subject: Subject) -> str:
    if subject.accelerator is not None:
        kind = str(getattr(subject.accelerator.distributed_type, "value", ""))
        if kind == "FSDP":
            return "fsdp2" if getattr(subject.accelerator, "is_fsdp2", False) else "fsdp1"
        return {"DEEPSPEED": "deepspeed", "MEGATRON_LM": "megatron"}.get(kind, "")
    if subject.args is None:
        return ""
    if uses_deepspeed(subject.args):
        return "deepspeed"
    return f"fsdp{fsdp_version(subject.args)}" if uses_fsdp(subject.args) else ""


def _wanted(subject: Subject) -> str | None:
    if subject.accelerator is not None:
        return _HALF.get(str(subject.accelerator.mixed_precision))
    for name, dtype in _HALF.items():
        if getattr(subject.args, name, False):
            return dtype
    return None


def _device(subject: Subject) -> torch.device:
    import torch

    if subject.accelerator is not None:
        device: torch.device = subject.accelerator.device
        return device
    if getattr(subject.args, "use_cpu", False):
        return torch.device("cpu")
    first = next(subject.model.parameters(), None) if subject.model is not None else None
    if first is not None and first.device.type not in ("cpu", "meta"):
        return torch.device(first.device)
    return default_device() if subject.args is not None else torch.device("cpu")
