"""`Trainer.train`: what it calls, in which order and with what, and what it logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import facts, tiny

METHODS = (
    "compute_loss",
    "compute_loss_context_manager",
    "training_step",
    "prediction_step",
    "_prepare_inputs",
    "_prepare_input",
    "get_train_dataloader",
    "get_eval_dataloader",
    "get_test_dataloader",
    "_get_train_sampler",
    "_get_eval_sampler",
    "get_batch_samples",
    "create_optimizer",
    "create_scheduler",
    "create_optimizer_and_scheduler",
    "get_decay_parameter_names",
    "num_examples",
    "num_tokens",
    "floating_point_ops",
    "evaluation_loop",
    "evaluate",
    "predict",
    "log",
    "save_model",
    "_save",
    "_save_checkpoint",
    "_save_optimizer_and_scheduler",
    "_load_from_checkpoint",
    "_load_best_model",
    "_maybe_log_save_evaluate",
    "_wrap_model",
    "_inner_training_loop",
    "call_model_init",
    "_move_model_to_device",
    "_remove_unused_columns",
    "_set_signature_columns_if_needed",
    "is_local_process_zero",
)
EVENTS = [
    "on_init_end",
    "on_train_begin",
    "on_train_end",
    "on_epoch_begin",
    "on_epoch_end",
    "on_step_begin",
    "on_substep_end",
    "on_pre_optimizer_step",
    "on_optimizer_step",
    "on_step_end",
    "on_evaluate",
    "on_predict",
    "on_save",
    "on_log",
    "on_prediction_step",
]


def _trainer(cls: Any = None, **settings: Any) -> Any:
    import transformers

    cls = cls or transformers.Trainer
    rows = tiny.rows("input_ids", "attention_mask", "labels")
    choices = {
        key: settings.pop(key)
        for key in list(settings)
        if key in ("callbacks", "data_collator", "optimizers")
    }
    made = tiny.arguments(transformers.TrainingArguments, **settings)
    return cls(
        model=tiny.llama(),
        args=made,
        train_dataset=rows,
        eval_dataset=rows.select(range(4)),
        **tiny.given(transformers.Trainer, processing_class__or__tokenizer=tiny.tokenizer()),
        **choices,
    )


def _watched() -> tuple[Any, list[Any]]:
    """Return a trainer that notes the calls of methods that scripts override."""
    import transformers

    calls: list[Any] = []

    def noting(name: str) -> Any:
        method = getattr(transformers.Trainer, name)

        def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
            calls.append((name, len(args), sorted(kwargs)))
            return method(self, *args, **kwargs)

        return noted

    there = [name for name in METHODS if hasattr(transformers.Trainer, name)]
    return type("Watched", (transformers.Trainer,), {name: noting(name) for name in there}), calls


def methods() -> Iterator[tuple[str, Any]]:
    cls, calls = _watched()
    made = _trainer(
        cls,
        max_steps=2,
        eval_strategy__or__evaluation_strategy="steps",
        eval_steps=1,
        save_strategy="steps",
        save_steps=2,
    )
    made.train()
    for name in METHODS:
        noted = [call for call in calls if call[0] == name]
        yield f"{name} calls", len(noted)
    first = [
        name
        for number, (name, *_) in enumerate(calls)
        if name not in [c[0] for c in calls[:number]]
    ]
    yield "order", " ".join(first)
    calls.clear()
    made.predict(made.eval_dataset)
    yield "predict", " ".join(name for name, *_ in calls)
    calls.clear()
    made.save_model("kept")
    yield "save_model", " ".join(name for name, *_ in calls)


def given_to_methods() -> Iterator[tuple[str, Any]]:
    cls, calls = _watched()
    _trainer(
        cls, eval_strategy__or__evaluation_strategy="epoch", max_steps=-1, num_train_epochs=1
    ).train()
    for name in METHODS:
        yield (
            name,
            sorted({(count, *keywords) for found, count, keywords in calls if found == name}),
        )


def accumulated() -> Iterator[tuple[str, Any]]:
    cls, calls = _watched()
    made = _trainer(cls, gradient_accumulation_steps=3, max_steps=-1, num_train_epochs=1)
    made.train()
    for name in ("training_step", "compute_loss", "get_batch_samples"):
        yield name, len([call for call in calls if call[0] == name])
    yield "steps", made.state.global_step
    yield "epoch", made.state.epoch


def events() -> Iterator[tuple[str, Any]]:
    import transformers

    calls: list[Any] = []

    def noting(name: str) -> Any:
        def noted(self: Any, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            calls.append((name, kwargs))

        return noted

    cls = type("Noted", (transformers.TrainerCallback,), {name: noting(name) for name in EVENTS})
    made = _trainer(
        callbacks=[cls()],
        gradient_accumulation_steps=2,
        max_steps=2,
        eval_strategy__or__evaluation_strategy="steps",
        eval_steps=1,
        save_strategy="steps",
        save_steps=1,
    )
    made.train()
    yield "order", " ".join(name for name, _ in calls)
    for name in EVENTS:
        given = next((kwargs for found, kwargs in calls if found == name), None)
        yield (
            f"{name} keys",
            given
            and {key: type(value).__name__ for key, value in given.items() if key != "metrics"},
        )
    yield "logs", [sorted(kwargs["logs"]) for name, kwargs in calls if name == "on_log"]
    yield "kinds", [facts.kind(kwargs["logs"]) for name, kwargs in calls if name == "on_log"]
    yield "callbacks", [type(callback).__name__ for callback in made.callback_handler.callbacks]


def without_events() -> Iterator[tuple[str, Any]]:
    """The end of a training whose steps for evaluating and saving lie beyond it."""
    made = _trainer(
        eval_strategy__or__evaluation_strategy="steps",
        eval_steps=99,
        save_strategy="steps",
        save_steps=99,
    )
    made.train()
    yield "history", [sorted(entry) for entry in made.state.log_history]
    yield "files", tiny.files("out")


def epochs() -> Iterator[tuple[str, Any]]:
    made = _trainer(
        max_steps=-1,
        num_train_epochs=2,
        eval_strategy__or__evaluation_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        save_total_limit=1,
    )
    found = made.train()
    yield "steps", [made.state.global_step, made.state.max_steps, made.state.epoch]
    yield "best", made.state.best_model_checkpoint
    yield "result", [type(found).__name__, len(found), sorted(found.metrics)]
    yield "history", [sorted(entry) for entry in made.state.log_history]
    yield "epochs", [entry["epoch"] for entry in made.state.log_history]
    yield "folders", sorted({name.split("/")[0] for name in tiny.files("out")})


def rates() -> Iterator[tuple[str, Any]]:
    for scheduler in ("linear", "cosine", "constant_with_warmup"):
        made = _trainer(
            lr_scheduler_type=scheduler, warmup_steps=2, max_steps=4, learning_rate=1e-3
        )
        made.train()
        logged = [entry.get("learning_rate") for entry in made.state.log_history if "loss" in entry]
        yield f"{scheduler} logged", [rate and round(rate, 9) for rate in logged]
        yield f"{scheduler} type", type(made.lr_scheduler).__name__
        yield f"{scheduler} last", [round(rate, 9) for rate in made.lr_scheduler.get_last_lr()]
    made = _trainer(logging_first_step=True, logging_steps=3, max_steps=4)
    made.train()
    yield "logged steps", [entry["step"] for entry in made.state.log_history]


def optimizers() -> Iterator[tuple[str, Any]]:
    for name in ("adamw_torch", "sgd", "adafactor", None):
        made = _trainer(weight_decay=0.1, **({"optim": name} if name else {}))
        optimizer = made.create_optimizer()
        yield f"{name} type", type(optimizer).__name__
        groups = optimizer.param_groups
        yield f"{name} groups", [[len(group["params"]), group["weight_decay"]] for group in groups]
        yield (
            f"{name} defaults",
            {
                key: value
                for key, value in sorted(optimizer.defaults.items())
                if key != "decoupled_weight_decay"
            },
        )


def losses() -> Iterator[tuple[str, Any]]:
    """What a `compute_loss` is given, and what becomes of a loss of 1.0."""
    import torch
    import transformers

    seen: list[Any] = []

    class OwnLossTrainer(transformers.Trainer):
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, **kwargs: Any
        ) -> Any:
            seen.append([type(inputs).__name__, list(inputs), sorted(kwargs)])
            weight = next(model.parameters())
            loss = weight.sum() * 0 + torch.tensor(1.0)
            return (loss, model(**inputs)) if return_outputs else loss

    for steps in (1, 4):
        made = _trainer(
            OwnLossTrainer,
            gradient_accumulation_steps=steps,
            max_steps=2,
            per_device_train_batch_size=1,
        )
        made.train()
        logged = [entry["loss"] for entry in made.state.log_history if "loss" in entry]
        yield f"accumulated {steps}", [round(loss, 4) for loss in logged]
        yield f"mean {steps}", round(made.state.log_history[-1]["train_loss"], 4)
    yield "seen", seen[0]
    yield "evaluated", round(made.evaluate()["eval_loss"], 4)


def batches() -> Iterator[tuple[str, Any]]:
    """Which rows come in which order."""
    import transformers
    from datasets import Dataset

    seen: list[Any] = []

    class OwnStepTrainer(transformers.Trainer):
        def training_step(self, model: Any, inputs: Any, *others: Any) -> Any:
            seen.append(inputs["input_ids"][:, 1].tolist())
            return super().training_step(model, inputs, *others)

    for name, more in (
        ("plain", {}),
        ("by length", {"group_by_length": True}),
        ("by length", {"train_sampling_strategy": "group_by_length"}),
        ("drop last", {"dataloader_drop_last": True}),
        ("data seed", {"data_seed": 5}),
    ):
        if tiny.given(transformers.TrainingArguments, **more) != more:
            continue
        seen.clear()
        made = _trainer(
            OwnStepTrainer, max_steps=-1, num_train_epochs=2, per_device_train_batch_size=3, **more
        )
        rows = [[1, *[6 + number] * (1 + number % 4), 2] for number in range(8)]
        made.train_dataset = Dataset.from_dict({"input_ids": rows, "labels": rows})
        made.data_collator = transformers.DataCollatorForSeq2Seq(tiny.tokenizer())
        made.train()
        yield name, seen


def arguments() -> Iterator[tuple[str, Any]]:
    import transformers

    made = tiny.arguments(transformers.TrainingArguments, warmup_steps=3)
    names = "local_rank local_process_index train_batch_size eval_batch_size n_gpu world_size device process_index should_save should_log "
    names += "parallel_mode place_model_on_device do_train do_eval run_name report_to fp16 bf16 "
    names += (
        "eval_strategy evaluation_strategy save_steps eval_steps output_dir overwrite_output_dir "
    )
    names += "push_to_hub_token include_tokens_per_second warmup_ratio warmup_steps past_index no_cuda use_cpu "
    names += (
        "half_precision_backend fp16_backend group_by_length tpu_num_cores per_gpu_train_batch_size"
    )
    for name in names.split():
        yield name, tiny.read(made, name)
    yield "warm up", [made.get_warmup_steps(n) for n in (0, 10, 100)]
    made = _trainer()
    for name in (
        "tokenizer",
        "processing_class",
        "label_names",
        "can_return_loss",
        "is_in_train",
        "args",
        "model_wrapped",
        "use_apex",
        "do_grad_scaling",
        "is_model_parallel",
        "place_model_on_device",
        "data_collator",
        "optimizer",
        "lr_scheduler",
        "state",
        "control",
        "sharded_ddp",
        "deepspeed",
        "use_cuda_amp",
        "model_accepts_loss_kwargs",
        "compute_loss_func",
        "hp_search_backend",
    ):
        yield f"Trainer.{name}", tiny.read(made, name)
    yield "state", sorted(vars(made.state))
