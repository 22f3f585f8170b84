"""Repair a training for `fix=True`: only data is replaced, parameters stay the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..precision.gradscaler import unify_batch_norms
from ..precision.loading import request_of
from ..precision.parameters import cast_in_place
from ..precision.threading_dtype import thread_dtype
from ..settings import requested_dtype
from ..text import megabytes
from .wording import plural

if TYPE_CHECKING:
    import torch

    from .anatomy import Parameter

Repair = Callable[[], str]


def upcast(parameters: Sequence[Parameter], model: torch.nn.Module) -> Repair:
    """Make parameters float32, before an optimizer has state for them, and their norms' statistics.

    Args:
        parameters: the parameters.
        model: what they belong to.
    """

    def do() -> str:
        import torch

        more = 0
        for parameter in parameters:
            more += (
                4 * parameter.tensor.numel()
                - parameter.tensor.numel() * parameter.tensor.element_size()
            )
            cast_in_place(parameter.tensor, torch.float32)
        cast = {id(parameter.tensor) for parameter in parameters}
        unify_batch_norms(
            module
            for module in model.modules()
            if not cast.isdisjoint(map(id, module._parameters.values()))
        )
        which = plural(len(parameters), "parameter")
        return f"made {which} float32, which takes {megabytes(more)} more memory for the weights"

    return do


def thread(model: torch.nn.Module, dtype: str) -> Repair | None:
    """Thread one dtype through quantized layers and the rest, by `patchkit.thread_dtype`.

    Returns None if the user loaded the model with another compute dtype on purpose.
    """
    request = request_of(model)
    compute_dtype = None if request is None else request.compute_dtype
    if requested_dtype() is None and compute_dtype not in (None, dtype):
        return None

    def do() -> str:
        import torch

        changed = thread_dtype(model, getattr(torch, dtype))
        counts = ", ".join(f"{number} {kind}" for kind, number in changed.counts.items())
        return f"patchkit.thread_dtype(model, torch.{dtype}) changed {counts or 'nothing more'}"

    return do


def move(parameters: Iterable[tuple[Parameter, torch.device]]) -> Repair:
    """Move parameters to the given devices."""

    def do() -> str:
        moved = list(parameters)
        for parameter, device in moved:
            parameter.tensor.grad = None
            parameter.tensor.data = parameter.tensor.data.to(device)
        targets = ", ".join(sorted({str(device) for _, device in moved}))
        return f"moved {plural(len(moved), 'parameter')} to {targets}"

    return do


def cast_states(states: Sequence[tuple[dict[str, Any], str, torch.dtype]]) -> Repair:
    """Give optimizer states the dtype of their parameters."""

    def do() -> str:
        for state, key, dtype in states:
            state[key] = state[key].to(dtype)
        return f"cast {plural(len(states), 'optimizer state')} to the dtype of its parameter"

    return do


def require_input_gradients(model: Any) -> Repair:
    """Make the embedding's output require a gradient, by the model's own hook."""

    def do() -> str:
        model.enable_input_require_grads()
        return "called enable_input_require_grads() of the model"

    return do


def divide_losses(trainer: Any) -> Repair:
    """Have a trainer divide the loss of each batch by the number of batches of a step."""

    def do() -> str:
        trainer.model_accepts_loss_kwargs = False
        return "set trainer.model_accepts_loss_kwargs = False"

    return do


def apply_patches(ids: Sequence[str]) -> Repair:
    def do() -> str:
        from ..engine.choices import Choices
        from ..engine.session import SESSION

        SESSION.apply(Choices(ids))
        return (
            f"applied {', '.join(ids)}; what a trainer that exists already did in its constructor "
            "stays as it is"
        )

    return do
