"""Layers that adapters are for, by the names that they had."""

from __future__ import annotations

import copy
from typing import Any

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings

_ATTENTION = {"query": ("q_proj",), "key": ("k_proj",), "value": ("v_proj",)}
_DENSE = {**_ATTENTION, "dense": ("o_proj", "fc1", "fc2")}
_RENAMED: dict[str, dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("beit", "deit", "swin", "vit"), _DENSE),
    "dinov2": {**_ATTENTION, "dense": ("o_proj",)},
    "segformer": {
        **_ATTENTION,
        "dense": ("o_proj",),
        "dense1": ("fc1",),
        "dense2": ("fc2",),
        "sr": ("sequence_reduction",),
    },
}
"""Layers of models for images, by the model's type."""


def renamed_layers(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Give a configuration of adapters the names that the model's layers have today."""
    wanted, model = call.arguments.get("peft_config"), call.arguments.get("model")
    names = getattr(wanted, "target_modules", None)
    kind = getattr(getattr(model, "config", None), "model_type", None)
    if not isinstance(names, list | set | tuple) or kind not in _RENAMED or model is None:
        return
    layers = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    today = _RENAMED[kind]
    old = sorted(name for name in names if name in today and name not in layers)
    if not old or not {new for name in old for new in today[name]} <= layers:
        return
    targets = sorted({new for name in names for new in (today[name] if name in old else (name,))})
    changed: Any = copy.copy(wanted)
    changed.target_modules = type(names)(targets)
    call.arguments["peft_config"] = changed
    call.fix(row, f"target_modules={old!r} of {type(model).__name__}", f"write {targets!r}")
