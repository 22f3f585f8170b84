"""Check that parameters fit together: adapters with their base, and FSDP's groups."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ...text import short_list
from .. import repairs
from ..anatomy import Parameter
from ..facts import TrainingFacts
from ..findings import Finding, Severity
from ..wording import dtypes, plural, short


def adapters_elsewhere(facts: TrainingFacts) -> Finding | None:
    """Find adapter weights on another device than the layer that they adapt."""
    if facts.engine:
        return None
    bases: dict[str, set[Any]] = defaultdict(set)
    for parameter in facts.anatomy.parameters:
        if parameter.adapted and parameter.in_base:
            bases[parameter.adapted].add(parameter.tensor.device)
    adapters = [
        parameter
        for parameter in facts.anatomy.parameters
        if parameter.adapted
        and not parameter.in_base
        and parameter.adapted not in facts.anatomy.offloaded
        and bases[parameter.adapted]
        and parameter.tensor.device not in bases[parameter.adapted]
    ]
    if not adapters:
        return None
    change = 'model.to("cuda")  # after get_peft_model or load_adapter'
    base_devices = ", ".join(
        sorted({str(device) for parameter in adapters for device in bases[parameter.adapted]})
    )
    adapter_devices = ", ".join(sorted({str(parameter.tensor.device) for parameter in adapters}))
    targets = [(parameter, next(iter(bases[parameter.adapted]))) for parameter in adapters]
    movable = not facts.has_optimizer_state and not any(
        "meta" in (str(device), parameter.tensor.device.type) for parameter, device in targets
    )
    if "meta" in base_devices:
        change = "load the weights of the base before those of the adapter: they are not there yet"
    return Finding(
        "adapters-elsewhere",
        Severity.ERROR,
        f"{plural(len(adapters), 'adapter parameter')} on {adapter_devices}, the layers that they "
        f"adapt on {base_devices}: {short_list(parameter.name for parameter in adapters)}",
        "The first forward pass raises: `Expected all tensors to be on the same device`.",
        change,
        repair=repairs.move(targets) if movable else None,
    )


def mixed_under_fsdp(facts: TrainingFacts) -> Finding | None:
    if facts.engine == "fsdp2":
        return _mixed_under_fsdp2(facts)
    if facts.engine != "fsdp1":
        return None
    mixed = _mixed(facts.anatomy.parameters)
    if not mixed:
        return None
    packed = any(
        not parameter.dtype.is_floating_point for group in mixed.values() for parameter in group
    )
    if packed:
        change = (
            "BitsAndBytesConfig(…, bnb_4bit_quant_storage=torch.bfloat16)  # the dtype of the rest"
        )
    else:
        most = short(max(mixed.values(), key=len)[0].dtype)
        change = (
            "for p in model.parameters():  # before the trainer shards the model\n"
            '    if not hasattr(p, "quant_state"):\n'
            f"        p.data = p.data.to(torch.{most})"
        )
    return Finding(
        "mixed-dtypes-under-fsdp",
        Severity.ERROR,
        f"{plural(len(mixed), 'block')} of several dtypes: {_blocks(mixed)}",
        "FSDP flattens all parameters of a block into one, frozen ones and the storage of packed "
        "ones included, and raises: `Must flatten tensors with uniform dtype`.",
        change,
    )


def _mixed_under_fsdp2(facts: TrainingFacts) -> Finding | None:
    # Accelerate makes the trained parameters float32 under mixed precision, but for 4-bit models.
    if facts.mixed_precision is not None and not facts.anatomy.four_bit:
        return None
    mixed = _mixed(facts.anatomy.trainable)
    if not mixed:
        return None
    half = [
        parameter
        for group in mixed.values()
        for parameter in group
        if parameter in facts.half_trainable
    ]
    return Finding(
        "mixed-dtypes-under-fsdp",
        Severity.ERROR,
        f"{plural(len(mixed), 'block')} train parameters of several dtypes: {_blocks(mixed)}",
        "FSDP2 wants one dtype among the parameters that a block trains, and raises in the first "
        "forward pass: `FSDP expects uniform original parameter dtype`.",
        "for p in model.parameters():  # before the trainer is made\n"
        "    if p.requires_grad:\n"
        "        p.data = p.data.float()",
        repair=None if facts.has_optimizer_state else repairs.upcast(half),
    )


def _mixed(parameters: tuple[Parameter, ...]) -> dict[str, list[Parameter]]:
    units: dict[str, list[Parameter]] = defaultdict(list)
    for parameter in parameters:
        units[parameter.unit].append(parameter)
    return {
        unit: group
        for unit, group in units.items()
        if len({parameter.dtype for parameter in group}) > 1
    }


def _blocks(mixed: dict[str, list[Parameter]]) -> str:
    return short_list(
        f"{unit or 'the root'} ({dtypes(parameter.dtype for parameter in group)})"
        for unit, group in mixed.items()
    )
