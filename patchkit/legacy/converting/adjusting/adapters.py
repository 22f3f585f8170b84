"""Configurations of adapters that PEFT took, and refuses or reads differently today."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import Any

from ...changes import Adjusted, Behaviour
from ..call import OldCall, Surroundings

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
    "phi": {"Wqkv": ("q_proj", "k_proj", "v_proj"), "out_proj": ("dense",)},
}
"""New names of layers, by the model's type and the old name; those of Phi were in remote code."""
_GENERATING = "prepare_inputs_for_generation"
_REMOTE = frozenset({"phi"})
"""Types of models whose old names were in remote code."""


def adapters_made_already(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
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


def has_reference(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    return len(args) > 1 or kwargs.get("ref_model") is not None


def reference_with_adapters(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass the model inside of a reference model of PEFT, in whose layers the adapters are.

    TRL scores the hidden states of the module that it gets, and takes those of the inner model.
    """
    reference: Any = call.arguments.get("ref_model")
    if not _is_peft_model(reference) or reference.active_peft_config.is_prompt_learning:
        return
    call.arguments["ref_model"] = reference.get_base_model()
    call.fix(row, f"{call.name}(ref_model=) with adapters", "write ref_model.get_base_model()")


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
        # PEFT has replaced it by the modules that it found.
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


def of_language_model(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Let adapters of a language model be put on a model that does not generate.

    PEFT reads a method of the model that all models had.
    """
    from transformers import GenerationMixin, PreTrainedModel

    model = call.arguments.get("model")
    if isinstance(model, PreTrainedModel) and not hasattr(model, _GENERATING):
        method = MethodType(getattr(GenerationMixin, _GENERATING), model)
        setattr(model, _GENERATING, method)
        old = f"{call.name} for a {type(model).__name__}"
        call.fix(row, old, "give adapters the task_type of the model, or None")


def renamed_layers(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Give a configuration of adapters the names that the model's layers have today."""
    wanted, model = call.arguments.get("peft_config"), call.arguments.get("model")
    names = getattr(wanted, "target_modules", None)
    model_type = getattr(getattr(model, "config", None), "model_type", None)
    if not isinstance(names, list | set | tuple) or model_type not in _RENAMED or model is None:
        return
    if (model_type in _REMOTE) is not row.name.startswith("layers of remote"):
        return
    layers = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    renamed = _RENAMED[model_type]
    old = sorted(name for name in names if name in renamed and name not in layers)
    if not old or not {new for name in old for new in renamed[name]} <= layers:
        return
    targets = sorted({new for name in names for new in (renamed[name] if name in old else (name,))})
    changed: Any = copy.copy(wanted)
    changed.target_modules = type(names)(targets)
    call.arguments["peft_config"] = changed
    call.fix(row, f"target_modules={old!r} of {type(model).__name__}", f"write {targets!r}")


def counted(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Give OFT no size of blocks beside their number, as when none was the default."""
    number = call.arguments.get("r")
    if number and "oft_block_size" not in call.arguments:
        call.arguments["oft_block_size"] = 0
        call.fix(row, f"{call.name}(r=)", f"write r={number}, oft_block_size=0")


def steps_to_come(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Give AdaLoRA a number of steps where none is given.

    Ranks changed only where a script gave the number afterwards, which it still can.
    """
    if call.arguments.get("total_step") is not None:
        return proceed()
    least = (call.arguments.get("tinit") or 0) + (call.arguments.get("tfinal") or 0) + 1
    call.arguments["total_step"] = least
    call.fix(
        row,
        f"{call.name} without total_step=",
        "write total_step=…, the number of steps; without it ranks stay as they are",
    )
    return proceed()
