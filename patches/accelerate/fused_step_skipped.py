"""In fp16 the learning rate moves on for steps that a fused optimizer skipped.

After an overflow `GradScaler` does not call the step of a plain optimizer, and Accelerate takes a
step that was called for one that was done. A fused optimizer is called every time: it gets
`found_inf` and skips the step itself. So `optimizer_step_was_skipped` stays False, and the
schedule of the learning rate (Accelerate's and that of Transformers' Trainer) runs ahead.

Fix: a step during which the optimizer held a `found_inf` other than zero counts as skipped.

Why: the scaler sets `found_inf` on the optimizer for the length of the step only, so it is read
within. An optimizer that was prepared before has its own step by then, so what calls that is
wrapped. The scale itself says less: a scaler whose backoff factor is 1 skips and keeps its scale.
"""

from collections.abc import Callable
from typing import Any

from patchkit.authoring import Patch, Wrap


def count_skipped_steps(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `step`, which takes a step of its optimizer that was called for one that was done."""
    note_and_step = getattr(instance, "_optimizer_patched_step_method", None)
    if note_and_step is None:
        return wrapped(*args, **kwargs)

    def step(*step_args: Any, **step_kwargs: Any) -> Any:
        result = note_and_step(*step_args, **step_kwargs)
        found_inf = getattr(instance.optimizer, "found_inf", None)
        if found_inf is not None and found_inf.item():
            instance._accelerate_step_called = False
        return result

    instance._optimizer_patched_step_method = step
    try:
        return wrapped(*args, **kwargs)
    finally:
        instance._optimizer_patched_step_method = note_and_step


PATCH = Patch(
    id="accelerate-fused-step-skipped",
    title="fp16 training notices the steps that a fused optimizer skips",
    affects={"accelerate": ">=1.0.1"},
    changes=(
        Wrap(
            "accelerate.optimizer:AcceleratedOptimizer.step",
            count_skipped_steps,
            parameters=("closure",),
        ),
    ),
    upstream=("https://github.com/huggingface/accelerate/issues/4242",),
    # Every fp16 training in which a step overflows has other numbers with it.
    opt_in="skipped_steps",
    symptom="learning rate moves on for a skipped step",
    caution="The step of a fused optimizer under GradScaler waits for the device once, as that of "
    "a plain one does.",
)


def reproduce() -> None:
    """Overflow in the first step of a fused AdamW under a scheduler."""
    import torch
    from accelerate import Accelerator

    from patchkit.lab import cuda_fp16

    cuda_fp16.install()
    accelerator = Accelerator(mixed_precision="fp16")
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    model, optimizer, schedule = accelerator.prepare(model, optimizer, schedule)
    for overflow, rate in ((True, 0.1), (False, 0.05)):
        before = model.weight.detach().clone()
        loss = model(torch.ones(2, 8, device=accelerator.device)).float().pow(2).mean()
        accelerator.backward(loss)
        if overflow:
            model.weight.grad[0, 0] = float("inf")
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        assert torch.equal(model.weight, before) == overflow, "the weights"
        assert schedule.get_last_lr() == [rate], (
            f"the learning rate moves on for a skipped step: {schedule.get_last_lr()}, not [{rate}]"
        )
