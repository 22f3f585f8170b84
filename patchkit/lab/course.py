"""Record the course of a training, so that it is known even if the training dies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from patchkit.lab.dtypes import KindDtypes, dtypes_by_kind


@dataclass
class Course:
    """The course of one training; `on_step` is called with each step, from 1, and its loss."""

    on_step: Callable[[int, float], None] | None = None
    #: The loss of each step.
    losses: dict[int, float] = field(default_factory=dict)
    #: The last step that has begun; 0 before the first.
    begun: int = 0
    #: The model's dtypes when training began.
    dtypes: tuple[KindDtypes, ...] = ()
    #: The device of the training, such as "cpu".
    device: str = ""

    def callback(self) -> Any:
        """Return a `TrainerCallback` that records the course."""
        import transformers

        def on_train_begin(_: Any, args: Any, *__: Any, model: Any, **___: Any) -> None:
            self.device = str(args.device)
            self.dtypes = dtypes_by_kind(model)

        def on_step_begin(_: Any, args: Any, state: Any, *__: Any, **___: Any) -> None:
            self.begun = state.global_step + 1

        def on_log(_: Any, args: Any, state: Any, *__: Any, logs: Any = None, **___: Any) -> None:
            if logs and "loss" in logs:
                self.losses[state.global_step] = float(logs["loss"])
                if self.on_step is not None:
                    self.on_step(state.global_step, self.losses[state.global_step])

        events = {
            "on_train_begin": on_train_begin,
            "on_step_begin": on_step_begin,
            "on_log": on_log,
        }
        return type("Recorder", (transformers.TrainerCallback,), events)()

    def losses_in_order(self) -> tuple[float, ...]:
        return tuple(self.losses[step] for step in sorted(self.losses))
