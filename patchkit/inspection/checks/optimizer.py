"""Check the state of the optimizer."""

from __future__ import annotations

from typing import Any

from .. import repairs
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import dtypes, plural, short


def state_of_another_dtype(facts: Facts) -> Finding | None:
    """Find states that no longer have the dtype of their parameter.

    Optimizers of bitsandbytes and others keep float32 states of half-precision parameters on
    purpose, and 8-bit ones integers: there only a narrower state is a mistake.
    """
    import torch

    if facts.optimizer is None or facts.engine:
        return None
    from_torch = type(facts.optimizer).__module__.startswith("torch.optim")
    states: list[tuple[dict[str, Any], str, Any]] = []
    pairs: list[str] = []
    for parameter, state in facts.optimizer.state.items():
        for key, value in state.items() if isinstance(state, dict) else ():
            if (
                isinstance(value, torch.Tensor)
                and value.dtype != parameter.dtype
                and value.is_floating_point()
                and value.shape == parameter.shape
                and value.dim() > 0
                and (from_torch or value.element_size() < parameter.element_size())
            ):
                states.append((state, key, parameter.dtype))
                pairs.append(f"{short(value.dtype)} for {short(parameter.dtype)} parameters")
    if not states:
        return None
    adam = from_torch and any(key.startswith("exp_avg") for _, key, _ in states)
    return Finding(
        "optimizer-state-dtype",
        Severity.ERROR if adam else Severity.WARNING,
        f"{plural(len(states), 'optimizer state')} of another dtype than the parameter: "
        f"{dtypes(pairs)}",
        "torch's Adam raises in its next step: `expected dtype … for `end``."
        if adam
        else "The optimizer's state is rounded to fewer bits than the parameters that it updates.",
        "cast the parameters before the optimizer is made; or, for an existing optimizer:\n"
        "for p, state in optimizer.state.items():\n"
        "    for key, value in state.items():\n"
        "        if torch.is_tensor(value) and value.shape == p.shape:\n"
        "            state[key] = value.to(p.dtype)",
        repair=repairs.cast_states(states),
    )
