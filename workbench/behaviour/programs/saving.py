"""Checkpoints: what is written, and how a training goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import tiny


def _trainer(model: Any = None, seen: list[Any] | None = None, **settings: Any) -> Any:
    import transformers
    from datasets import Dataset

    class OwnSavingTrainer(transformers.Trainer):
        def training_step(self, model: Any, inputs: Any, *others: Any) -> Any:
            if seen is not None:
                seen.append(inputs["input_ids"][:, 1].tolist())
            return super().training_step(model, inputs, *others)

    rows = [[1, 6 + number, 2] for number in range(8)]
    return OwnSavingTrainer(
        model=model or tiny.llama(),
        args=tiny.arguments(
            transformers.TrainingArguments,
            **{"save_strategy": "steps", "save_steps": 2, "max_steps": 4, **settings},
        ),
        train_dataset=Dataset.from_dict({"input_ids": rows, "labels": rows}),
        **tiny.given(transformers.Trainer, processing_class__or__tokenizer=tiny.tokenizer()),
    )


def files() -> Iterator[tuple[str, Any]]:
    made = _trainer()
    made.train()
    yield "written", tiny.files("out")
    yield "state", tiny.keys_of("out/checkpoint-4/trainer_state.json")
    yield "config", tiny.keys_of("out/checkpoint-4/config.json")
    yield (
        "dtype",
        json.loads(Path("out/checkpoint-4/config.json").read_text()).get(
            "torch_dtype", "no such key"
        ),
    )
    made.save_model("final")
    yield "save_model", tiny.files("final")
    made.save_state()
    made.save_metrics("train", {"train_loss": 1.0})
    yield "beside", [name for name in tiny.files("out") if "/" not in name]


def limited() -> Iterator[tuple[str, Any]]:
    _trainer(save_total_limit=1, save_only_model=True, save_steps=1, output_dir="few").train()
    yield "written", tiny.files("few")


def resuming() -> Iterator[tuple[str, Any]]:
    seen: list[Any] = []
    _trainer(seen=seen, output_dir="whole", per_device_train_batch_size=1).train()
    whole, again = list(seen), []
    made = _trainer(seen=again, output_dir="whole", per_device_train_batch_size=1)
    found = made.train(resume_from_checkpoint="whole/checkpoint-2")
    yield "whole", whole
    yield "resumed", again
    yield "steps", [made.state.global_step, found.global_step, made.state.epoch]
    yield "history", [sorted(entry) for entry in made.state.log_history]
    again.clear()
    _trainer(
        seen=again, output_dir="whole", per_device_train_batch_size=1, ignore_data_skip=True
    ).train(resume_from_checkpoint="whole/checkpoint-2")
    yield "without skipping", again
    made = _trainer(output_dir="whole", max_steps=6)
    made.train(resume_from_checkpoint=True)
    yield "from the last", made.state.global_step


def resuming_with_other_arguments() -> Iterator[tuple[str, Any]]:
    _trainer(output_dir="other").train()
    made = _trainer(output_dir="other", save_steps=1, logging_steps=2, max_steps=6)
    made.train(resume_from_checkpoint="other/checkpoint-2")
    yield "checkpoints", sorted({name.split("/")[0] for name in tiny.files("other")})
    yield "logged", [entry["step"] for entry in made.state.log_history]
    yield "batch size", made.state.train_batch_size


def an_adapter() -> Iterator[tuple[str, Any]]:
    import peft

    config = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    made = _trainer(peft.get_peft_model(tiny.llama(), config), output_dir="lora")
    made.train()
    yield "written", tiny.files("lora/checkpoint-4")
    made.train(resume_from_checkpoint="lora/checkpoint-2")
    yield "resumed", made.state.global_step
    made.save_model("lora-final")
    yield "save_model", tiny.files("lora-final")


def a_module() -> Iterator[tuple[str, Any]]:
    """A model that is no model of Transformers."""
    import torch

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Embedding(40, 4)

        def forward(self, input_ids: Any, attention_mask: Any = None, labels: Any = None) -> Any:
            found = self.layer(input_ids)
            return {"loss": found.mean(), "logits": found}

    made = _trainer(Plain(), output_dir="plain")
    made.train()
    yield "written", tiny.files("plain/checkpoint-4")
    yield "predicted", made.predict(made.train_dataset).predictions
