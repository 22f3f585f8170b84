"""Check the dtypes of trained parameters and of their optimizer's state."""

from __future__ import annotations

from typing import Any

from ...precision.adapters import ADAPTER_CAST
from ...precision.gradscaler import GRADSCALER_GUARD
from ...settings import value
from .. import repairs, superseding_patches
from ..anatomy import Parameter
from ..facts import TrainingFacts
from ..findings import Finding, Severity, found
from ..wording import dtypes, parameters, plural, short

_KEEP_FLOAT32_COPIES = ("deepspeed", "megatron")
_TENSORS_SAMPLED = 16
_NUMBERS_SAMPLED = 512
# Ten steps of a tiny Llama had the losses of float32 with either, and NaN without. An epsilon of
# 1e-4 keeps them finite, and moves weights 7 times as far, or 36 times if Adam is not fused.
_FLOAT16_WITH_ADAM = (
    "\nargs = TrainingArguments(…, fp16=True)  # to compute in float16 still"
    "\n# or keep the weights in float16, and Adam's state out of it:"
    '\n# TrainingArguments(…, optim="adamw_bnb_8bit")'
)
_ADAMS = ("adamw_torch", "adamw_torch_xla", "adamw_torch_fused", "adamw_torch_npu_fused")
_LARGE_EPSILON = 1e-4
_MANY = 0.25
_FEW = 0.02
# Optimizers that write results back into the parameter and keep nothing of what was rounded off.
_PLAIN_OPTIMIZERS = (
    "torch.optim.",
    "bitsandbytes.optim.",
    "transformers.",
    "adamw_torch",
    "adamw_hf",
    "adamw_bnb",
    "adamw_8bit",
    "adafactor",
    "ademamix",
    "lion",
    "paged_",
    "rmsprop",
    "sgd",
)


def half_under_scaler(facts: TrainingFacts) -> Finding | None:
    half = facts.half_trainable
    if not facts.scaler or not half:
        return None
    guarded = (
        superseding_patches.GRADSCALER_GUARD in facts.applied
        and value(GRADSCALER_GUARD) == "upcast"
    )
    fixed_later = guarded and not facts.has_optimizer_state
    failure_by_dtype = {
        "float16": "raises `Attempting to unscale FP16 gradients`",
        "bfloat16": "has no CUDA kernel for bfloat16 (`… not implemented for 'BFloat16'`)",
    }
    failures = " and ".join(
        failure_by_dtype[dtype] for dtype in sorted({short(parameter.dtype) for parameter in half})
    )
    return found(
        f"half-trainable-under-scaler{' patched-later' if fixed_later else ''}",
        parameters=parameters(half, "trained parameter"),
        failures=failures,
        patch=superseding_patches.GRADSCALER_GUARD,
        change=_in_float32(facts),
        repair=None
        if facts.has_optimizer_state or facts.engine
        else repairs.upcast(half, facts.model),
    )


def float16_without_scaler(facts: TrainingFacts) -> Finding | None:
    """Find float16 weights that the optimizer updates in float16."""
    narrow = [
        parameter for parameter in facts.half_trainable if short(parameter.dtype) == "float16"
    ]
    if not narrow or facts.scaler or facts.engine:
        return None
    fault = _fault_of_adam(facts)
    return found(
        f"float16-without-scaler{' adam' if fault else ''}",
        case=fault,
        parameters=parameters(narrow, "trained parameter"),
        change=_in_float32(facts) + (_FLOAT16_WITH_ADAM if fault and facts.mostly_trained else ""),
        repair=_adapter_repair(facts, narrow),
    )


def updates_round_away(facts: TrainingFacts) -> Finding | None:
    narrow = [
        parameter
        for parameter in facts.half_trainable
        if short(parameter.dtype) == "bfloat16" and not _is_magnitude(parameter)
    ]
    if (
        not narrow
        or facts.scaler
        or facts.engine in _KEEP_FLOAT32_COPIES
        or (facts.engine and facts.autocast)  # Accelerate makes FSDP's parameters float32 then
        or value(ADAPTER_CAST) == "bf16"
        or not facts.optimizer_kind.startswith(_PLAIN_OPTIMIZERS)
    ):
        return None
    rate = facts.learning_rate
    lost = None if rate is None else _lost_share(narrow, rate)
    if lost is None or lost < _FEW:
        return None
    return found(
        "updates-round-away",
        severity=Severity.WARNING if lost >= _MANY else None,
        parameters=parameters(narrow, "trained parameter"),
        rate=rate,
        lost=lost,
        change=_in_float32(facts),
        repair=_adapter_repair(facts, narrow),
    )


def magnitude_in_half(facts: TrainingFacts) -> Finding | None:
    magnitudes = [parameter for parameter in facts.half_trainable if _is_magnitude(parameter)]
    if not magnitudes or facts.scaler or facts.engine:
        return None
    return found(
        "dora-magnitude-in-half",
        parameters=parameters(magnitudes, "magnitude vector"),
        repair=_adapter_repair(facts, magnitudes),
    )


def state_of_another_dtype(facts: TrainingFacts) -> Finding | None:
    """Find states that no longer have the dtype of their parameter.

    Optimizers of bitsandbytes and others keep float32 states of half-precision parameters on
    purpose, and 8-bit ones integers: there only a narrower state is a mistake.
    """
    import torch

    if facts.optimizer is None or facts.engine:
        return None
    from_torch = type(facts.optimizer).__module__.startswith("torch.optim")
    states: list[tuple[dict[str, Any], str, Any]] = []
    pairs: list[str] = []
    for parameter, state in facts.optimizer.state.items():
        for key, held in state.items() if isinstance(state, dict) else ():
            if (
                isinstance(held, torch.Tensor)
                and held.dtype != parameter.dtype
                and held.is_floating_point()
                and held.shape == parameter.shape
                and held.dim() > 0
                and (from_torch or held.element_size() < parameter.element_size())
            ):
                states.append((state, key, parameter.dtype))
                pairs.append(f"{short(held.dtype)} for {short(parameter.dtype)} parameters")
    if not states:
        return None
    adam = from_torch and any(key.startswith("exp_avg") for _, key, _ in states)
    return found(
        f"optimizer-state-dtype{' adam' if adam else ''}",
        states=plural(len(states), "optimizer state"),
        pairs=dtypes(pairs),
        repair=repairs.cast_states(states),
    )


def _in_float32(facts: TrainingFacts) -> str:
    if facts.mostly_trained:
        return "model = AutoModelForCausalLM.from_pretrained(…, dtype=torch.float32)"
    return (
        "for p in model.parameters():  # before the trainer is made\n"
        "    if p.requires_grad:\n"
        "        p.data = p.data.float()"
    )


def _adapter_repair(facts: TrainingFacts, adapters: list[Parameter]) -> repairs.Repair | None:
    """Repair adapters only: for a whole model it takes twice the memory, which the user decides."""
    if facts.has_optimizer_state or facts.engine or facts.mostly_trained:
        return None
    return repairs.upcast(adapters, facts.model)


def _is_magnitude(parameter: Parameter) -> bool:
    return "lora_magnitude_vector" in parameter.name


def _fault_of_adam(facts: TrainingFacts) -> str:
    """Say what PyTorch's Adam does to float16 weights; nothing of another optimizer.

    The fused kernel computes in float32, and keeps its state in float16 as the others do.
    """
    kind, epsilon = facts.optimizer_kind, _epsilon(facts)
    adam = kind.startswith("torch.optim.") and "Adam" in kind.rpartition(".")[2]
    if epsilon >= _LARGE_EPSILON or not (adam or kind in _ADAMS):
        return ""
    return "divides by zero" if epsilon < 2**-25 and not facts.fused else "runs away"


def _epsilon(facts: TrainingFacts) -> float:
    if facts.optimizer is not None:
        return min(float(group.get("eps", 1.0)) for group in facts.optimizer.param_groups)
    return float(getattr(facts.args, "adam_epsilon", 1e-8))


def _lost_share(weights: list[Parameter], rate: float) -> float | None:
    """Return the share of weights that adding `rate` leaves unchanged; None if unreadable."""
    import torch

    readable = [parameter.tensor for parameter in weights if parameter.tensor.device.type != "meta"]
    readable = [tensor for tensor in readable if tensor.numel()]
    lost, total = 0.0, 0
    for tensor in readable[:: max(1, len(readable) // _TENSORS_SAMPLED)][:_TENSORS_SAMPLED]:
        flat = tensor.detach().reshape(-1)
        sample = flat[:: max(1, flat.numel() // _NUMBERS_SAMPLED)][:_NUMBERS_SAMPLED]
        moved = (sample.float() - rate).to(torch.bfloat16)
        lost += float((moved == sample).sum())
        total += sample.numel()
    return lost / total if total else None
