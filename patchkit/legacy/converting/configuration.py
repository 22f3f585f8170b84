"""Rebuild a trainer's configuration with other values."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from ..call_sites import last_part, source_of
from ..changes import Behaviour
from ..uses import calling_script
from .call import OldCall

_SAMPLING = "train_sampling_strategy"
_STEPS, _BATCH = "steps_per_generation", "generation_batch_size"
_NO_RANK = -1
_FOLDER = "tmp_trainer"
"""The output folder of trainers without a configuration."""


def give_call_an_own_configuration(call: OldCall) -> None:
    """Give a trainer without a configuration its former default, if the call is an old one."""
    lacks_one = "args" in call.method.keywords and call.arguments.get("args") is None
    if call.is_old and lacks_one and call.method.owner.__module__.startswith("trl."):
        configure(call, {})


def number_rank(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Set `local_rank`, by which scripts choose who saves: it is -1 in each process today."""
    result = proceed()
    # A class with an initialization of its own may have neither.
    made = call.instance
    if getattr(made, "local_rank", None) == _NO_RANK and hasattr(made, "distributed_state"):
        if made.world_size == 1 and _asks_for_no_rank(calling_script()):
            return result
        made.local_rank = made.local_process_index
    return result


def _asks_for_no_rank(frame: FrameType | None) -> bool:
    """Tell whether a script takes a process for the only one where it has no rank.

    That is from before Transformers 4.30, which numbers the only process, too.
    """
    source = None if frame is None else source_of(frame)
    compared = (
        node
        for node in (ast.walk(source.tree) if source is not None else ())
        if isinstance(node, ast.Compare) and last_part(node.left) == "local_rank"
    )
    return any(
        isinstance(node.ops[0], ast.Eq | ast.NotEq)
        and ast.unparse(node.comparators[0]) == str(_NO_RANK)
        for node in compared
    )


def configure(call: OldCall, settings: Mapping[str, Any]) -> None:
    """Set fields of the configuration that a trainer's constructor gets.

    The configuration is constructed again, since its constructor derives other values from them.
    """
    from transformers import TrainingArguments

    args = call.arguments.get("args")
    if args is None:
        # The older release took the defaults of this class.
        args = TrainingArguments(output_dir=_FOLDER)
    wanted = call.configuration_class
    cls = type(args) if isinstance(args, wanted) else wanted
    call.arguments["args"] = remade(args, cls, settings)


def remade(
    args: Any,
    cls: type,
    settings: Mapping[str, Any],
    *,
    without: frozenset[str] = frozenset(),
) -> Any:
    """Construct a configuration with all that another one holds.

    Args:
        args: a configuration.
        cls: the class of the new one.
        settings: fields that get other values.
        without: fields that the new one does not get from the old one.

    Returns:
        the new one. It also gets the attributes of the old one that are not fields of the class.
    """
    fields = {known.name for known in dataclasses.fields(cls) if known.init}
    if cls is not type(args) and getattr(args, _SAMPLING, None) == "random":
        without |= {_SAMPLING}  # came after the scripts that leave it to this class
    if getattr(args, _STEPS, None) is not None and _BATCH not in settings:
        without |= {_BATCH}  # derived from the other; they may not be given together
    held = {name: value for name, value in vars(args).items() if name in fields - without}
    new = cls(**{**held, **settings})
    for name, value in vars(args).items():
        if name not in vars(new) and name not in without:
            setattr(new, name, value)
    return new
