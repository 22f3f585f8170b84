"""Configurations that trainers no longer take as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ....whose import Whose, owner_of_class
from ...changes import Adjusted
from ...decisions import decide
from ..call import OldCall, Surroundings
from ..configuration import remade

_CLASSES = "reward_processing_classes"
_COLLATOR = "data_collator"
_OF_PAIRS = "DPODataCollatorWithPadding"


def own_configuration(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Make a trainer's own configuration of training arguments, with every value that they hold."""
    from transformers import TrainingArguments

    args, cls = call.arguments.get("args"), call.configuration_class
    if not isinstance(args, TrainingArguments) or isinstance(args, cls):
        return
    if call.method.owner.__name__ == "SFTTrainer" and type(args) is TrainingArguments:
        return  # SFTTrainer makes its own of them
    call.fix(
        row,
        f"{call.name}(args={type(args).__name__})",
        f"write {cls.__name__}(…) for {type(args).__name__}(…)",
    )
    call.arguments["args"] = remade(args, cls, {})


def set_afterwards(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Convert old names that a script has set on a configuration, as if it had passed them."""
    args = call.arguments.get("args")
    if args is None or not dataclasses.is_dataclass(args):
        return
    if owner_of_class(type(args)).whose is Whose.FRAMEWORK:
        return  # what it sets on its own, it reads itself
    rows = surroundings.due.methods_of(type(args)).get("__init__")
    fields = {known.name for known in dataclasses.fields(args)}
    known_rows = rows.keywords if rows is not None else {}
    decisions = {
        name: decide(known_rows[name]) for name in vars(args).keys() & known_rows.keys() - fields
    }
    # A value that is kept is an attribute already, and is looked for there.
    old = {
        name: value
        for name, value in vars(args).items()
        if name in decisions and not decisions[name].kept
    }
    if old:
        without = {*old, *(decisions[name].to for name in old)}
        call.arguments["args"] = remade(args, type(args), old, without=frozenset(without))


def of_sequences(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Set what the trainer reads on arguments of a script's class that does not have it."""
    from transformers import Seq2SeqTrainingArguments

    args = call.arguments.get("args")
    if args is None:
        return
    missing = {
        field.name: field.default
        for field in dataclasses.fields(Seq2SeqTrainingArguments)
        if field.default is not dataclasses.MISSING and not hasattr(args, field.name)
    }
    if missing:
        vars(args).update(missing)
        name = type(args).__name__
        own = ", ".join(sorted(missing))
        advice = "derive it from Seq2SeqTrainingArguments"
        call.fix(row, f"{call.name}(args={name}) without {own}", advice)


def collator_of_pairs(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave out the collator that the trainer made itself where none was given.

    Raises:
        LegacyError: it is one of a class that the script derives from that.
    """
    given = call.arguments.get(_COLLATOR)
    if all(cls.__name__ != _OF_PAIRS for cls in type(given).__mro__):
        return
    old = f"{call.name}({_COLLATOR}={type(given).__name__}(…))"
    if type(given).__name__ != _OF_PAIRS:
        module = call.method.owner.__module__
        raise call.refuse(row, old, f"Derive it from the collator of {module}.")
    del call.arguments[_COLLATOR]
    call.fix(row, old, "leave it out: the trainer makes another one")


def dtype_of_the_model(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Load a named model in the dtype that the script gives as `torch_dtype`."""
    _name_dtype(call, row, "model_init_kwargs")


def dtype_of_the_teacher(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Do the same for a named teacher."""
    _name_dtype(call, row, "teacher_model_init_kwargs")


def _name_dtype(call: OldCall, row: Adjusted, field: str) -> None:
    args = call.arguments.get("args")
    given = getattr(args, field, None)
    if isinstance(given, Mapping) and "torch_dtype" in given and "dtype" not in given:
        # The old name stays beside the new one, as the script may read it.
        setattr(args, field, {**given, "dtype": given["torch_dtype"]})
        old = f"{type(args).__name__}({field}={{'torch_dtype': …}})"
        call.fix(row, old, "write 'dtype' for 'torch_dtype'")


def processing_class_for_each(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Give each of several rewards the one processing class; only the first was computed."""
    rewards, given = call.arguments.get("reward_funcs"), call.arguments.get(_CLASSES)
    if given is None or isinstance(given, list) or not isinstance(rewards, list):
        return
    if len(rewards) > 1:
        call.arguments[_CLASSES] = [given] * len(rewards)
        old = f"{call.name}({_CLASSES}=) with one class for {len(rewards)} rewards"
        advice = "give a list of them; with one, all rewards but the first were left out"
        call.fix(row, old, advice)


def may_ask_for_bf16(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a configuration has today's default of bf16."""
    return kwargs.get("bf16") is None and not kwargs.get("use_cpu")


def without_bf16(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave bf16 off, as it was, where nobody asks for it and no device has it."""
    given = call.arguments
    if given.get("bf16") is not None or given.get("fp16") or given.get("use_cpu"):
        return
    from transformers.utils import is_torch_bf16_gpu_available, is_torch_xla_available

    if not is_torch_bf16_gpu_available() and not is_torch_xla_available():
        given["bf16"] = False
        call.fix(row, f"{call.name} without bf16=, where no device has it", "write bf16=False")


def share_of_steps(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Give a share of the steps by the keyword that it has on an older release."""
    share = call.arguments.get("warmup_steps")
    if isinstance(share, float) and 0 < share < 1:
        call.arguments |= {"warmup_steps": 0, "warmup_ratio": share}
        call.fix(row, f"{call.name}(warmup_steps={share!r})", f"write warmup_ratio={share!r}")
