"""A method `create_optimizer_and_scheduler` of a script's own, which trainers called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .call import Call
from .changes import Behaviour
from .libraries import own_classes
from .uses import Place

_BOTH, _FIRST = "create_optimizer_and_scheduler", "create_optimizer"


def create_both(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Create the optimizer and the schedule by a script's own method, as they were.

    Args:
        call: the call that makes a trainer ready; it knows the number of steps.
        row: the row of the table.
        proceed: carries it out.
    """
    trainer, steps = call.instance, call.arguments.get("max_steps")
    method = _own_method(type(trainer))
    if method is None or steps is None:
        return proceed()
    code = method.__code__
    call.mend(
        row,
        f"{type(trainer).__name__}.{_BOTH}",
        f"override {_FIRST} and create_scheduler",
        Place(code.co_filename, code.co_firstlineno),
    )

    def create_optimizer(*args: Any, **kwargs: Any) -> Any:
        # The script's method may call the trainer's, which calls this one.
        del trainer.create_optimizer
        trainer.create_optimizer_and_scheduler(num_training_steps=steps)
        return trainer.optimizer

    trainer.create_optimizer = create_optimizer
    try:
        return proceed()
    finally:
        vars(trainer).pop(_FIRST, None)


def _own_method(kind: type) -> Any:
    """Return the method that a script has, and that none of its others stands for."""
    for owner in own_classes(kind):
        method = vars(owner).get(_BOTH)
        if inspect.isfunction(method):
            return method
    return None
