"""Adapters by the names that a script gave them: the trained one, and the reference.

Today's trainers train the active adapter. They ask for one named `default`, and take the reference
from one named `ref`, which they make themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_TRAINED, _REFERENCE = "default", "ref"
_WANTED = "_patchkit_reference_adapter"
"""The attribute of a trainer that has the name of the adapter to take the reference from."""


def trained_by_name(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Make a trainer of a model whose adapters have other names than it asks for."""
    args: Any = call.arguments.get("args")
    model: Any = call.arguments.get("model")
    trained, reference = (_name_in(args, f"{kind}_adapter_name") for kind in ("model", "ref"))
    known = getattr(model, "peft_config", None) or {}
    if trained in known and model.active_adapter != trained:
        model.set_adapter(trained)
    lacks_one = reference in known and _TRAINED not in known
    if lacks_one:
        known[_TRAINED] = known[reference]
    vars(call.instance)[_WANTED] = reference
    try:
        return proceed()
    finally:
        if lacks_one:
            del known[_TRAINED]


def copied_for_reference(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Tell that the reference is what an adapter was, where it was the model without adapters."""
    model, args = call.arguments.get("model"), call.arguments.get("args")
    is_left_out = call.arguments.get("ref_model") is None and not _name_in(args, "ref_adapter_name")
    if is_left_out and call.is_of_older_script(row) and _has_learned(model):
        old = f"{call.name} for a model with an adapter that was trained before"
        told = "its reference is a copy of that adapter, and was the model without adapters"
        call.tell(row, old, f"{old}: {told}")
    return proceed()


def repaired_elsewhere(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Make a call whose inner ones another row repairs; this one shows what scripts write."""
    return proceed()


def _has_learned(model: Any) -> bool:
    """Tell whether the adapters of a model change what it computes; fresh ones do not."""
    return bool(getattr(model, "peft_config", None)) and any(
        "lora_B" in name and bool(weight.any()) for name, weight in model.named_parameters()
    )


def _name_in(args: Any, name: str) -> Any:
    return getattr(args, f"{name}_of_trainer", None) or getattr(args, name, None)


def reference_by_name(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Take the reference from the adapter that the script named, before the first loss.

    A script may load that adapter when the trainer is there.
    """
    trainer = call.instance
    reference = vars(trainer).pop(_WANTED, None)
    if reference is not None:
        model = trainer.accelerator.unwrap_model(trainer.model)
        if reference in getattr(model, "peft_config", ()):
            _copy_adapter(model, reference)
    return proceed()


def _copy_adapter(model: Any, name: str) -> None:
    if _REFERENCE in model.peft_config:
        model.delete_adapter(_REFERENCE)
    model.add_adapter(_REFERENCE, model.peft_config[name])
    weights = dict(model.named_parameters())
    for place, weight in weights.items():
        if f".{name}." in place:
            weights[place.replace(f".{name}.", f".{_REFERENCE}.")].data.copy_(weight.data)
