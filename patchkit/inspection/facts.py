"""Gather once all facts that the checks need."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..precision.adapters import fsdp_version, uses_deepspeed, uses_fsdp
from ..precision.other_quantizers import quantizer_of
from ..settings import requested_dtype
from .anatomy import Anatomy, Parameter, look_at
from .hardware import Hardware, default_device, probe
from .subject import TrainingParts

if TYPE_CHECKING:
    import torch

_HALF = {"fp16": "float16", "bf16": "bfloat16"}


@dataclass(frozen=True)
class TrainingFacts:
    """The facts of a training.

    Args:
        subject: model, arguments, accelerator and optimizer.
        anatomy: the model's parameters and quantized layers.
        hardware: the device that trains.
        engine: the library that holds the parameters, if any: `fsdp1`, `fsdp2`, `deepspeed` or
            `megatron`.
        mixed_precision: `float16` or `bfloat16` if mixed precision is on, else None.
        autocast: the dtype of autocast; None if there is none.
        scaler: whether torch's own gradient scaler will unscale the gradients.
        apply_dtype: the name of the dtype given to `apply(dtype=…)`, if any.
        applied: ids of the patches that are applied.
    """

    subject: TrainingParts
    anatomy: Anatomy
    hardware: Hardware
    engine: str = ""
    mixed_precision: str | None = None
    autocast: str | None = None
    scaler: bool = False
    apply_dtype: str | None = None
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
    def compute_target(self) -> str | None:
        """The dtype for layers to compute in: that of `apply`, else that of the arguments."""
        return self.apply_dtype or self.mixed_precision

    @property
    def trainer_made(self) -> bool:
        return self.args is not None and self.subject.accelerator is not None

    @cached_property
    def half_trainable(self) -> tuple[Parameter, ...]:
        """The trained parameters in float16 or bfloat16."""
        import torch

        half = (torch.float16, torch.bfloat16)
        return tuple(
            parameter
            for parameter in self.anatomy.trainable
            if parameter.plain and parameter.dtype in half
        )

    @cached_property
    def mostly_trained(self) -> bool:
        """True if most of the model is trained, not only adapters."""
        size = sum(int(parameter.tensor.numel()) for parameter in self.anatomy.parameters)
        return 2 * sum(int(parameter.tensor.numel()) for parameter in self.anatomy.trainable) > size

    @property
    def learning_rate(self) -> float | None:
        """The highest known rate: of the optimizer's groups, else of the arguments."""
        if self.optimizer is not None:
            rates = [float(group.get("lr", 0.0)) for group in self.optimizer.param_groups]
            if any(rates):
                return max(rates)
        rate = getattr(self.args, "learning_rate", None)
        return None if rate is None else float(rate)

    @cached_property
    def optimizer_kind(self) -> str:
        """The optimizer's name, such as `torch.optim.adamw.AdamW` or `adamw_torch_fused`."""
        if self.optimizer is not None:
            cls = type(self.optimizer)
            return f"{cls.__module__}.{cls.__qualname__}"
        name = getattr(self.args, "optim", "")
        return str(getattr(name, "value", name) or "")

    @property
    def fused(self) -> bool:
        """Whether the optimizer updates in one kernel, which reads the scale itself."""
        if self.optimizer is not None:
            return any(group.get("fused") for group in self.optimizer.param_groups)
        return self.optimizer_kind.endswith(("torch_fused", "torch_npu_fused"))

    @property
    def has_optimizer_state(self) -> bool:
        return self.optimizer is not None and len(self.optimizer.state) > 0

    @cached_property
    def quantizer(self) -> str:
        """The library that quantized the model, if it is another than bitsandbytes."""
        return "" if self.model is None else quantizer_of(self.model)

    def _quantized(self) -> str:
        layers = len(self.anatomy.quantized)
        if layers or not self.quantizer:
            return f"{layers} quantized layers"
        return f"quantized by {self.quantizer}"

    def describe(self) -> str:
        """Describe the training in one line."""
        parts = []
        if self.model is not None:
            parts.append(
                f"{type(self.model).__name__} ({len(self.anatomy.parameters)} parameters, "
                f"{len(self.anatomy.trainable)} trained, {self._quantized()})"
            )
        for part in (self.subject.args, self.subject.accelerator, self.optimizer):
            if part is not None:
                parts.append(type(part).__name__)
        precision = (
            f"{self.mixed_precision} mixed precision"
            if self.mixed_precision
            else "no mixed precision"
        )
        engine = f" under {self.engine}" if self.engine else ""
        return f"{', '.join(parts)}; {precision}{engine} on {self.hardware}"


def gather(
    subject: TrainingParts,
    *,
    hardware: Hardware | None = None,
    applied: frozenset[str] = frozenset(),
) -> TrainingFacts:
    """Gather the facts; nothing is run and nothing changed."""
    hardware = hardware or probe(_device(subject))
    engine = _engine(subject)
    mixed_precision = _mixed_precision(subject)
    if subject.accelerator is not None:
        autocast = mixed_precision if subject.accelerator.native_amp else None
        scaler = subject.accelerator.scaler is not None
    else:
        elsewhere = engine in ("deepspeed", "megatron")
        ignored = elsewhere or (mixed_precision == "float16" and hardware.type == "cpu")
        autocast = None if ignored else mixed_precision
        scaler = autocast == "float16"
    # FSDP1 brings its own scaler, which accepts float16.
    return TrainingFacts(
        subject=subject,
        anatomy=_anatomy(subject.model, engine),
        hardware=hardware,
        engine=engine,
        mixed_precision=mixed_precision,
        autocast=autocast,
        scaler=scaler and engine in ("", "fsdp2"),
        apply_dtype=requested_dtype(),
        applied=applied,
    )


def _anatomy(model: torch.nn.Module | None, engine: str) -> Anatomy:
    if model is None:
        return Anatomy()
    if not engine.startswith("fsdp"):
        return look_at(model)
    adapted = hasattr(model, "peft_config")
    if adapted and engine == "fsdp2":  # Accelerate ignores PEFT's policy there
        return look_at(model)
    return look_at(model, _fsdp_blocks(model), leaves_apart=adapted)


def _fsdp_blocks(model: Any) -> frozenset[str]:
    """Return the classes that FSDP wraps one by one: the launcher's, else the model's."""
    import os

    names = os.environ.get("FSDP_TRANSFORMER_CLS_TO_WRAP", "")
    if names:
        return frozenset(names.split(","))
    return frozenset(getattr(model, "_no_split_modules", None) or ())


def _engine(subject: TrainingParts) -> str:
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


def _mixed_precision(subject: TrainingParts) -> str | None:
    if subject.accelerator is not None:
        return _HALF.get(str(subject.accelerator.mixed_precision))
    for name, dtype in _HALF.items():
        if getattr(subject.args, name, False):
            return dtype
    return None


def _device(subject: TrainingParts) -> torch.device:
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
