"""Which parameters lie together: adapters with their base, and FSDP's groups."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ...wording import listed
from .. import repairs
from ..anatomy import Parameter
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import counted, dtypes, short


def adapters_elsewhere(facts: Facts) -> Finding | None:
    """Adapter weights on another device than the layer that they adapt."""
    if facts.engine:
        return None
    bases: dict[str, set[Any]] = defaultdict(set)
    for one in facts.anatomy.parameters:
        if one.adapted and one.in_base:
            bases[one.adapted].add(one.tensor.device)
    found = [
        one
        for one in facts.anatomy.parameters
        if one.adapted
        and not one.in_base
        and one.adapted not in facts.anatomy.offloaded
        and bases[one.adapted]
        and one.tensor.device not in bases[one.adapted]
    ]
    if not found:
        return None
    change = 'model.to("cuda")  # after get_peft_model or load_adapter'
    there = ", ".join(sorted({str(device) for one in found for device in bases[one.adapted]}))
    here = ", ".join(sorted({str(one.tensor.device) for one in found}))
    targets = [(one, next(iter(bases[one.adapted]))) for one in found]
    movable = not facts.has_optimizer_state and not any(
        "meta" in (str(device), one.tensor.device.type) for one, device in targets
    )
    if "meta" in there:
        change = "load the weights of the base before those of the adapter: they are not there yet"
    return Finding(
        "adapters-elsewhere",
        Severity.ERROR,
        f"{counted(len(found), 'adapter parameter')} on {here}, the layers that they adapt on "
        f"{there}: {listed(one.name for one in found)}",
        "The first forward pass raises: `Expected all tensors to be on the same device`.",
        change,
        repair=repairs.move(targets) if movable else None,
    )


def mixed_under_fsdp(facts: Facts) -> Finding | None:
    if facts.engine == "fsdp2":
        return _mixed_under_fsdp2(facts)
    if facts.engine != "fsdp1":
        return None
    mixed = _mixed(facts.anatomy.parameters)
    if not mixed:
        return None
    packed = any(not one.dtype.is_floating_point for group in mixed.values() for one in group)
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
        f"{counted(len(mixed), 'block')} of several dtypes: {_blocks(mixed)}",
        "FSDP flattens all parameters of a block into one, frozen ones and the storage of packed "
        "ones included, and raises: `Must flatten tensors with uniform dtype`.",
        change,
    )


def _mixed_under_fsdp2(facts: Facts) -> Finding | None:
    # Accelerate makes the trained parameters float32 under mixed precision, but for 4-bit models.
    if facts.wanted is not None and not facts.anatomy.four_bit:
        return None
    mixed = _mixed(facts.anatomy.trainable)
    if not mixed:
        return None
    half = [one for group in mixed.values() for one in group if one in facts.half_trainable]
    return Finding(
        "mixed-dtypes-under-fsdp",
        Severity.ERROR,
        f"{counted(len(mixed), 'block')} train parameters of several dtypes: {_blocks(mixed)}",
        "FSDP2 wants one dtype among the parameters that a block trains, and raises in the first "
        "forward pass: `FSDP expects uniform original parameter dtype`.",
        "for p in model.parameters():  # before the trainer is made\n"
        "    if p.requires_grad:\n"
        "        p.data = p.data.float()",
        repair=None if facts.has_optimizer_state else repairs.upcast(half),
    )


def _mixed(parameters: tuple[Parameter, ...]) -> dict[str, list[Parameter]]:
    units: dict[str, list[Parameter]] = defaultdict(list)
    for one in parameters:
        units[one.unit].append(one)
    return {unit: group for unit, group in units.items() if len({one.dtype for one in group}) > 1}


def _blocks(mixed: dict[str, list[Parameter]]) -> str:
    return listed(
        f"{unit or 'the root'} ({dtypes(one.dtype for one in group)})"
        for unit, group in mixed.items()
    )
