"""Check that parameters fit together: adapters with their base, FSDP's groups, device maps."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ...precision.parameters import is_plain_float
from ...text import short_list
from .. import repairs
from ..anatomy import AdapterLayer, Parameter
from ..facts import TrainingFacts
from ..findings import Finding, found
from ..wording import dtypes, plural, short

_ROWS = 64
"""Rows of rows that a layer is tried with: any power of two of groups divides them."""


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
    base_devices = ", ".join(
        sorted({str(device) for parameter in adapters for device in bases[parameter.adapted]})
    )
    targets = [(parameter, next(iter(bases[parameter.adapted]))) for parameter in adapters]
    movable = not facts.has_optimizer_state and not any(
        "meta" in (str(device), parameter.tensor.device.type) for parameter, device in targets
    )
    return found(
        "adapters-elsewhere",
        case="not loaded" if "meta" in base_devices else "loaded",
        number=plural(len(adapters), "adapter parameter"),
        adapters=", ".join(sorted({str(parameter.tensor.device) for parameter in adapters})),
        bases=base_devices,
        names=short_list(parameter.name for parameter in adapters),
        repair=repairs.move(targets) if movable else None,
    )


def adapter_on_router(facts: TrainingFacts) -> Finding | None:
    """Find adapters on layers that give something else than Linear does.

    Routers of mixtures of experts return tuples, and DeepSeek V4 multiplies groups one by one.
    """
    routers = [layer for layer in facts.anatomy.adapters if _gives_something_else(layer)]
    if not routers:
        return None
    return found(
        "adapter-on-router",
        layers=plural(len(routers), "layer"),
        names=short_list(layer.name for layer in routers),
        last=routers[0].name.rpartition(".")[2],
    )


def statistics_not_saved(facts: TrainingFacts) -> Finding | None:
    """Find norms whose running statistics training moves, and PEFT does not save."""
    norms = facts.anatomy.averaging
    if not norms or not facts.anatomy.adapters:
        return None
    configs = getattr(facts.model, "peft_config", {}).values()
    saved = {name for config in configs for name in getattr(config, "modules_to_save", None) or ()}
    layers = (name for name, _ in facts.model.named_modules())
    return found(
        "statistics-not-saved",
        layers=plural(len(norms), "layer"),
        names=short_list(norms),
        saved=", ".join(f'"{name}"' for name in sorted({*saved, *_own_endings(norms, layers)})),
    )


def _own_endings(names: Iterable[str], every: Iterable[str]) -> set[str]:
    """Return endings of dotted names, in parts and as short as no other name ends with them."""
    wanted = set(names)
    others = set(every) - wanted
    endings = set()
    for name in wanted:
        parts = name.removeprefix("base_model.model.").split(".")
        longer = (".".join(parts[-length:]) for length in range(1, len(parts) + 1))
        own = (end for end in longer if not any(other.endswith(end) for other in others))
        endings.add(next(own, ".".join(parts)))
    return endings


def device_map_refused(facts: TrainingFacts) -> Finding | None:
    """Find device maps that Accelerate refuses to train with."""
    import os

    accelerator, model = facts.subject.accelerator, facts.model
    if accelerator is None or model is None or not hasattr(accelerator, "verify_device_map"):
        return None
    kind = str(getattr(accelerator.distributed_type, "value", ""))
    distributed = kind != "NO"
    spread = getattr(model, "hf_device_map", None) or {}
    packed = any(getattr(model, f"is_loaded_in_{bits}bit", False) for bits in (4, 8))
    devices = set(spread.values())
    bypassed = os.environ.get("ACCELERATE_BYPASS_DEVICE_MAP", "false") == "true"
    own = f'device_map={{"": "{facts.hardware.type}:{accelerator.local_process_index}"}}'
    if distributed and accelerator.verify_device_map(model) and not bypassed:
        case = "spread"
    elif packed and "disk" in devices:
        case = "on the disk"
    elif packed and len(devices) == 1 and _elsewhere(next(iter(devices)), accelerator.device):
        case = "elsewhere"
    else:
        return None
    placed = next(iter(devices), "")
    return found(
        "device-map-refused", case=case, accelerator=accelerator, kind=kind, placed=placed, own=own
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
    return found(
        "mixed-dtypes-under-fsdp",
        case="packed" if packed else "plain",
        number=plural(len(mixed), "block"),
        blocks=_blocks(mixed),
        most=short(max(mixed.values(), key=len)[0].dtype),
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
    return found(
        "mixed-dtypes-under-fsdp fsdp2",
        number=plural(len(mixed), "block"),
        blocks=_blocks(mixed),
        repair=None if facts.has_optimizer_state else repairs.upcast(half, facts.model),
    )


def partly_trained_under_fsdp(facts: TrainingFacts) -> Finding | None:
    """Find blocks that FSDP1 would flatten out of trained and frozen parameters."""
    plugin = getattr(getattr(facts.subject.accelerator, "state", None), "fsdp_plugin", None)
    if facts.engine != "fsdp1" or getattr(plugin, "use_orig_params", True) is not False:
        return None
    units = _by_unit(facts.anatomy.parameters)
    partly = [
        f"{unit or 'the root'} ({sum(p.trainable for p in group)} of {len(group)} trained)"
        for unit, group in units.items()
        if len({parameter.trainable for parameter in group}) > 1
    ]
    if not partly:
        return None
    return found(
        "partly-trained-under-fsdp", number=plural(len(partly), "block"), blocks=short_list(partly)
    )


def _elsewhere(placed: Any, device: Any) -> bool:
    """Return whether a device map names another GPU than that of this process."""
    index = getattr(placed, "index", placed)
    if isinstance(placed, str):
        index = int(placed.rpartition(":")[2]) if placed.rpartition(":")[2].isdigit() else None
    return device.type == "cuda" and None not in (index, device.index) and index != device.index


def _gives_something_else(layer: AdapterLayer) -> bool:
    """Return whether the adapted layer is a kind of Linear whose output is not that of Linear.

    Its own `forward` tells, called on the meta device, where nothing is computed.
    """
    import torch

    base: Any = layer.module._modules.get("base_layer")
    cls = type(base)
    if (
        "forward" not in vars(cls)
        or not issubclass(cls, torch.nn.Linear)
        or not is_plain_float(base.weight)
    ):
        return False
    bare = copy.copy(base)  # without hooks, which may load what is offloaded
    bare._parameters = {
        name: p if p is None else p.to("meta") for name, p in base._parameters.items()
    }
    rows = torch.empty(_ROWS, _ROWS, base.in_features, dtype=base.weight.dtype, device="meta")
    try:
        given = cls.forward(bare, rows)
    except Exception:
        return False
    return getattr(given, "shape", ()) != (_ROWS, _ROWS, base.out_features)


def _by_unit(parameters: tuple[Parameter, ...]) -> dict[str, list[Parameter]]:
    units: dict[str, list[Parameter]] = defaultdict(list)
    for parameter in parameters:
        units[parameter.unit].append(parameter)
    return units


def _mixed(parameters: tuple[Parameter, ...]) -> dict[str, list[Parameter]]:
    return {
        unit: group
        for unit, group in _by_unit(parameters).items()
        if len({parameter.dtype for parameter in group}) > 1
    }


def _blocks(mixed: dict[str, list[Parameter]]) -> str:
    return short_list(
        f"{unit or 'the root'} ({dtypes(parameter.dtype for parameter in group)})"
        for unit, group in mixed.items()
    )
