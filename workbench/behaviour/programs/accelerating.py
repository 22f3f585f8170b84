"""A loop with Accelerate, on one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import tiny


def _parts() -> tuple[Any, Any, Any]:
    import torch

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.DataLoader(
        torch.arange(20.0).reshape(10, 2), batch_size=3, shuffle=False
    )
    return model, optimizer, rows


def prepared() -> Iterator[tuple[str, Any]]:
    import torch
    from accelerate import Accelerator

    made = Accelerator(cpu=True)
    model, optimizer, rows = made.prepare(*_parts())
    schedule = made.prepare(torch.optim.lr_scheduler.StepLR(optimizer, 1))
    yield "types", [type(part).__name__ for part in (model, optimizer, rows, schedule)]
    yield "lengths", [len(rows), len(rows.dataset), rows.batch_size]
    yield "batches", [list(batch.shape) for batch in rows]
    yield "precision", made.mixed_precision
    yield "device", str(made.device)
    yield "gathered", made.gather(torch.tensor([1, 2]))
    yield "metrics", [list(made.gather_for_metrics(batch).shape) for batch in rows]
    yield "unwrapped", type(made.unwrap_model(model)).__name__
    yield "state", sorted(made.get_state_dict(model))
    for name in (
        "num_processes",
        "is_main_process",
        "use_distributed",
        "sync_gradients",
        "optimizer_step_was_skipped",
        "gradient_accumulation_steps",
        "project_dir",
        "use_fp16",
        "split_batches",
        "even_batches",
        "dispatch_batches",
        "logging_dir",
        "distributed_type",
    ):
        yield name, tiny.read(made, name)


def accumulated() -> Iterator[tuple[str, Any]]:
    from accelerate import Accelerator

    made = Accelerator(cpu=True, gradient_accumulation_steps=3)
    model, optimizer, rows = made.prepare(*_parts())
    steps = []
    for batch in rows:
        with made.accumulate(model):
            loss = model(batch).sum() * 0 + model.bias.sum()
            made.backward(loss)
            steps.append([made.sync_gradients, round(float(model.bias.grad), 4)])
            optimizer.step()
            optimizer.zero_grad()
    yield "steps", steps
    yield "norm", made.clip_grad_norm_(model.parameters(), 1.0)


def saved() -> Iterator[tuple[str, Any]]:
    from accelerate import Accelerator

    made = Accelerator(cpu=True)
    model, _, rows = made.prepare(*_parts())
    made.save_state("state")
    yield "files", tiny.files("state")
    made.load_state("state")
    made.save_model(model, "model")
    yield "model", tiny.files("model")
    skipped = made.skip_first_batches(rows, 2)
    yield "skipped", [list(batch.shape) for batch in skipped]
    made.save({"a": 1}, "plain.bin")
    yield "plain", tiny.files(".").count("plain.bin")


def devices() -> Iterator[tuple[str, Any]]:
    from accelerate import infer_auto_device_map, init_empty_weights

    with init_empty_weights():
        made = tiny.llama()
    yield "empty", sorted({str(p.device) for p in made.parameters()})
    yield "map", dict(infer_auto_device_map(tiny.llama(), max_memory={"cpu": "1GB"}))


def half() -> Iterator[tuple[str, Any]]:
    import torch
    from accelerate import Accelerator

    made = Accelerator(cpu=True, mixed_precision="bf16")
    model = made.prepare(torch.nn.Linear(2, 2))
    yield "outputs", model(torch.ones(1, 2))
    yield "weights", str(model.weight.dtype)
    with made.autocast():
        yield "inside", torch.ones(1, 2) @ torch.ones(2, 2)
    yield "forward", type(made.unwrap_model(model).forward).__name__


def beside_arguments() -> Iterator[tuple[str, Any]]:
    """An Accelerator of the script's own, made after the arguments of a trainer."""
    from accelerate import Accelerator
    from transformers import TrainingArguments

    tiny.arguments(TrainingArguments, bf16=True, gradient_accumulation_steps=4)
    made = Accelerator()
    yield "precision", made.mixed_precision
    yield "accumulation", made.gradient_accumulation_steps
