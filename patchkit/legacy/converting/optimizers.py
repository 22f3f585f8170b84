"""A method `create_optimizer_and_scheduler` of a script's own, which trainers called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from ..guarding.libraries import own_methods
from ..uses import Place
from .call import Call

_BOTH, _FIRST = "create_optimizer_and_scheduler", "create_optimizer"


def create_both(call: Call, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Create the optimizer and the schedule by a script's own method, as they were.

    Args:
        call: the call that makes a trainer ready; it knows the number of steps.
        row: the row of the table.
        proceed: carries it out.
    """
    trainer, steps = call.instance, call.arguments.get("max_steps")
    _, method = next(own_methods(type(trainer), _BOTH), (None, None))
    if method is None or steps is None:
        return proceed()
    call.fix(
        row,
        f"{type(trainer).__name__}.{_BOTH}",
        f"override {_FIRST} and create_scheduler",
        Place.of_function(method),
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
