"""Trainers that truncate prompts, as those did that had `max_prompt_length`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import UsageError
from ..changes import Behaviour
from ..converting.call import OldCall
from ..converting.prompts import HOW
from ..guarding.guard import GuardedMethod
from ..uses import Journal
from ..versions.due import Due


def truncating(trainer: type, **limits: Any) -> type:
    """Return a subclass of a trainer that truncates prompts.

    Args:
        trainer: `DPOTrainer`, `KTOTrainer`, `GRPOTrainer`, `RLOOTrainer`, `ORPOTrainer`,
            `CPOTrainer`, or a class that derives from one.
        limits: what its configuration had: `max_prompt_length`, `max_completion_length` and
            `truncation_mode`. `max_prompt_length_of_trainer` is what DPOTrainer itself had.

    Raises:
        UsageError: it is another trainer.
    """
    from ..rows import all_rows

    methods = {
        name: [row for row in rows.behaviours if row.name == HOW]
        for name, rows in Due(all_rows()).methods_of(trainer).items()
    }
    if not any(methods.values()):
        raise UsageError(f"{trainer.__name__} never truncated prompts in any release")
    changed = {
        name: _method(trainer, name, rows, limits)
        for name, rows in methods.items()
        if (rows or name == "__init__") and hasattr(trainer, name)
    }
    changed.setdefault("__init__", _method(trainer, "__init__", (), limits))
    return type(
        trainer.__name__,
        (trainer,),
        {"__module__": trainer.__module__, "__doc__": trainer.__doc__, **changed},
    )


def _method(
    trainer: type, name: str, rows: Sequence[Behaviour], limits: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return a method of a trainer with the behaviours of these rows."""
    owner = next(cls for cls in trainer.__mro__ if name in vars(cls))
    method = GuardedMethod(owner, name)

    @functools.wraps(method.function)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = OldCall(method, self, args, kwargs, Journal())
        if name == "__init__":
            configuration = {**call.unknown, **call.arguments}.get("args")
            if configuration is None:
                raise UsageError(f"{trainer.__name__} needs args= to truncate prompts")
            vars(configuration).update(limits)
        proceed: Callable[[], Any] = call.carry_out
        for row in rows:
            proceed = functools.partial(row.around, call, row, proceed)
        return proceed()

    return called
