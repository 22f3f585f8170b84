"""A method `_save_checkpoint` of a script's own, which got metrics."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ...changes import Adjusted
from ...guarding.libraries import own_methods
from ...uses import Place
from ..call import Call
from .surroundings import Surroundings

_METRICS = "metrics"
_OF_EVALUATION = "eval_"
"""How the names of metrics begin."""


def metrics_of_checkpoints(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Pass the metrics of the evaluation that went before to a script's own `_save_checkpoint`.

    Args:
        call: the call of a trainer's constructor.
        row: its name is that of the method.
        surroundings: what is changed is remembered there.
    """
    for kind, method in own_methods(type(call.instance), row.name):
        if hasattr(method, "__wrapped__"):
            continue
        if _METRICS in inspect.signature(method).parameters:
            surroundings.changed.change(kind, row.name, _with_metrics(method))
            call.fix(
                row,
                f"{kind.__name__}.{row.name}({_METRICS})",
                "read the metrics from self.state.log_history",
                Place.of_function(method),
            )


def by_position(call: Call, row: Adjusted, surroundings: Surroundings) -> None:
    """Leave out the metrics that a script hands on to the trainer's `_save_checkpoint`."""
    if call.rest:
        call.rest = ()
        call.fix(row, f"{call.name}(model, trial, {_METRICS})", f"leave {_METRICS} out")


def _with_metrics(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def saved(self: Any, model: Any, trial: Any, metrics: Any = None) -> Any:
        return method(self, model, trial, _latest(self) if metrics is None else metrics)

    return saved


def _latest(trainer: Any) -> dict[str, Any] | None:
    """Return the metrics of this step's evaluation; None if there was none."""
    step = trainer.state.global_step
    metrics: dict[str, Any] = {}
    for entry in trainer.state.log_history:
        if entry.get("step") == step and any(name.startswith(_OF_EVALUATION) for name in entry):
            metrics |= {name: value for name, value in entry.items() if name != "step"}
    return metrics or None
