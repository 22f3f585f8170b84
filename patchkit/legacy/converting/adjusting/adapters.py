"""A model that has adapters already, together with a configuration of adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...changes import Adjusted
from ..call import Call
from .surroundings import Surroundings

_OF_THE_MODEL = frozenset(
    {
        "auto_mapping",
        "base_model_name_or_path",
        "inference_mode",
        "peft_version",
        "revision",
        "task_type",
    }
)
"""Fields that PEFT fills in, or that say nothing about the adapters' weights."""


def adapters_made_already(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave out `peft_config` if the model has just these adapters."""
    wanted, model = call.arguments.get("peft_config"), call.arguments.get("model")
    if wanted is None or not _is_peft_model(model):
        return
    assert model is not None
    differing = _differing(model.peft_config[model.active_adapter], wanted)
    if differing:
        raise call.refuse(
            row,
            f"{call.name}(peft_config=) for a model that has other adapters already",
            f"They differ in {', '.join(differing)}. Pass the model from before get_peft_model, or "
            f"leave peft_config out.",
        )
    call.arguments["peft_config"] = None
    call.fix(
        row,
        f"{call.name}(peft_config=) for a model that has these adapters already",
        "leave peft_config= out",
    )


def _is_peft_model(model: Any) -> bool:
    from peft import PeftModel

    return isinstance(model, PeftModel)


def _differing(present: Any, wanted: Any) -> list[str]:
    """Return the settings in which two configurations of adapters differ."""
    if present is wanted:
        return []
    if type(present) is not type(wanted):
        return ["peft_type"]
    have, want = _settings(present), _settings(wanted)
    if isinstance(want.get("target_modules"), str) or want.get("target_modules") is None:
        # PEFT writes down the modules that it found for it.
        have.pop("target_modules", None)
        want.pop("target_modules", None)
    return [name for name in want if have.get(name) != want[name]]


def _settings(configuration: Any) -> dict[str, Any]:
    return {
        name: _comparable(value)
        for name, value in configuration.to_dict().items()
        if name not in _OF_THE_MODEL
    }


def _comparable(value: Any) -> Any:
    if isinstance(value, list | set | tuple):
        return frozenset(map(str, value)) or None
    if isinstance(value, Mapping):
        return dict(value) or None
    return value
