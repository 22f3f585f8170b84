"""Make a trainer's configuration again, with more values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .call import Call

_SAMPLING = "train_sampling_strategy"
_STEPS, _BATCH = "steps_per_generation", "generation_batch_size"
_FOLDER = "tmp_trainer"
"""The output folder that trainers took when they got no configuration."""


def give_call_an_own_configuration(call: Call) -> None:
    """Give a trainer without a configuration the one that it had, if the call is an old one.

    Args:
        call: the call of a constructor.
    """
    lacks_one = "args" in call.method.keywords and call.arguments.get("args") is None
    if call.is_old and lacks_one and call.method.owner.__module__.startswith("trl."):
        configure(call, {})


def configure(call: Call, settings: Mapping[str, Any]) -> None:
    """Give a trainer a configuration that has these values besides those that it has.

    They go through the constructor, since it works out other values from them.

    Args:
        call: the call of a trainer's constructor.
        settings: fields of the configuration.
    """
    from transformers import TrainingArguments

    args = call.arguments.get("args")
    if args is None:
        # The older release took the defaults of this class.
        args = TrainingArguments(output_dir=_FOLDER)
    wanted = call.configuration_class
    kind = type(args) if isinstance(args, wanted) else wanted
    call.arguments["args"] = remade(args, kind, settings)


def remade(
    args: Any,
    cls: type,
    settings: Mapping[str, Any],
    *,
    without: frozenset[str] = frozenset(),
) -> Any:
    """Make a configuration again, with all that one holds.

    Args:
        args: a configuration.
        cls: the class of the new one.
        settings: fields that get other values.
        without: what the new one does not get from the old one.

    Returns:
        the new one. What the old one has beyond the fields of that class, it has as well.
    """
    fields = {known.name for known in dataclasses.fields(cls) if known.init}
    if cls is not type(args) and getattr(args, _SAMPLING, None) == "random":
        without |= {_SAMPLING}  # younger than scripts that leave it to this class
    if getattr(args, _STEPS, None) is not None and _BATCH not in settings:
        without |= {_BATCH}  # worked out from the other; they may not be given together
    held = {name: value for name, value in vars(args).items() if name in fields - without}
    new = cls(**{**held, **settings})
    for name, value in vars(args).items():
        if name not in vars(new) and name not in without:
            setattr(new, name, value)
    return new
