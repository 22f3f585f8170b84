"""Each trainer of TRL, two steps with a tiny model: first batch, what it changed, what it logs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from . import tiny

PLACES = ("trl", "trl.experimental.{}")
NAMES = {"orpo": "ORPO", "cpo": "CPO", "bco": "BCO", "online_dpo": "OnlineDPO"}


def _found(name: str) -> Any:
    """Return a class of TRL from where it is, or None."""
    import trl

    stem = name.removesuffix("Trainer").removesuffix("Config")
    folder = next((folder for folder, other in NAMES.items() if other == stem), "")
    for place in PLACES:
        try:
            module = importlib.import_module(place.format(folder)) if place != "trl" else trl
            return getattr(module, name)
        except (ImportError, AttributeError):
            continue
    return None


LENGTHS = {"max_length": 32, "max_prompt_length": 16}


def _made(kind: str, rows: Any, model: Any = None, tokenizer: Any = None, **settings: Any) -> Any:
    trainer, config = _found(f"{kind}Trainer"), _found(f"{kind}Config")
    choices = {
        key: settings.pop(key)
        for key in list(settings)
        if key
        in ("formatting_func", "peft_config", "data_collator", "reward_funcs", "compute_metrics")
    }
    if config is None:
        import transformers

        config = transformers.TrainingArguments
    arguments = tiny.arguments(config, **settings)
    tokenizer = tokenizer or tiny.tokenizer()
    more = tiny.given(
        trainer.__init__, processing_class__or__tokenizer=tokenizer, eval_dataset=rows
    )
    late = {
        key: value for key, value in settings.items() if key not in tiny.given(config, **settings)
    }
    more.update(tiny.given(trainer.__init__, **late))
    return trainer(
        model=model if model is not None else _loaded(),
        args=arguments,
        train_dataset=rows,
        **more,
        **choices,
    )


def _loaded() -> Any:
    """Return a model that knows where it came from: trainers load their reference from there."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny.saved())


def _facts(made: Any, tokenizer: Any = None) -> Iterator[tuple[str, Any]]:
    yield "columns", sorted(made.train_dataset.column_names or [])
    yield "rows", len(made.train_dataset)
    yield (
        "first row",
        {key: value for key, value in made.train_dataset[0].items() if not isinstance(value, str)},
    )
    yield "collator", type(made.data_collator).__name__
    yield (
        "model",
        [
            type(made.model).__name__,
            made.model.training,
            sorted({str(p.dtype) for p in made.model.parameters()}),
        ],
    )
    yield "trainable", sum(p.numel() for p in made.model.parameters() if p.requires_grad)
    yield "callbacks", [type(callback).__name__ for callback in made.callback_handler.callbacks]
    yield "unused columns", made.args.remove_unused_columns
    yield "checkpointing", made.args.gradient_checkpointing
    batch = next(iter(made.get_train_dataloader()))
    yield "batch", {key: batch[key] for key in batch} if hasattr(batch, "keys") else batch
    made.train()
    yield "history", [sorted(entry) for entry in made.state.log_history]
    yield "evaluated", sorted(made.evaluate())
    made.save_model("kept")
    yield "files", tiny.files("kept")


def sft_text() -> Iterator[tuple[str, Any]]:
    yield from _facts(
        _made(
            "SFT", tiny.rows("text"), dataset_text_field="text", max_length__or__max_seq_length=16
        )
    )


def sft_cut() -> Iterator[tuple[str, Any]]:
    yield from _facts(
        _made("SFT", tiny.rows("text"), dataset_text_field="text", max_length__or__max_seq_length=4)
    )


def sft_messages() -> Iterator[tuple[str, Any]]:
    yield from _facts(_made("SFT", tiny.rows("messages"), max_length__or__max_seq_length=32))


def sft_completion() -> Iterator[tuple[str, Any]]:
    yield from _facts(
        _made("SFT", tiny.rows("prompt", "completion"), max_length__or__max_seq_length=32)
    )


def sft_packed() -> Iterator[tuple[str, Any]]:
    yield from _facts(
        _made(
            "SFT",
            tiny.rows("text"),
            packing=True,
            dataset_text_field="text",
            max_length__or__max_seq_length=16,
        )
    )


def sft_formatted() -> Iterator[tuple[str, Any]]:
    def formatted(row: Any) -> Any:
        return f"{row['answer']} sat"

    yield from _facts(
        _made(
            "SFT", tiny.rows("answer"), formatting_func=formatted, max_length__or__max_seq_length=32
        )
    )


def sft_tokenized() -> Iterator[tuple[str, Any]]:
    yield from _facts(
        _made("SFT", tiny.rows("input_ids", "attention_mask"), max_length__or__max_seq_length=16)
    )


def sft_lora() -> Iterator[tuple[str, Any]]:
    import peft

    config = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    yield from _facts(
        _made(
            "SFT",
            tiny.rows("text"),
            peft_config=config,
            dataset_text_field="text",
            max_length__or__max_seq_length=16,
        )
    )


def sft_by_name() -> Iterator[tuple[str, Any]]:
    import torch

    folder = tiny.saved(tiny.llama().to(torch.bfloat16))
    made = _made(
        "SFT",
        tiny.rows("text"),
        model=folder,
        dataset_text_field="text",
        max_length__or__max_seq_length=16,
    )
    yield from _facts(made)


def sft_without_padding_token() -> Iterator[tuple[str, Any]]:
    tokenizer = tiny.tokenizer(pad_token=None)
    made = _made(
        "SFT",
        tiny.rows("text"),
        tokenizer=tokenizer,
        dataset_text_field="text",
        max_length__or__max_seq_length=16,
    )
    yield "pad", tokenizer.pad_token
    yield "model's", [made.model.config.pad_token_id, made.model.generation_config.pad_token_id]
    yield from _facts(made)


def dpo() -> Iterator[tuple[str, Any]]:
    made = _made("DPO", tiny.rows("prompt", "chosen", "rejected"), **LENGTHS)
    yield "reference", type(made.ref_model).__name__
    yield from _facts(made)


def dpo_lora() -> Iterator[tuple[str, Any]]:
    import peft

    config = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    rows = tiny.rows("prompt", "chosen", "rejected")
    made = _made("DPO", rows, peft_config=config, **LENGTHS)
    yield "reference", type(made.ref_model).__name__
    yield from _facts(made)


def kto() -> Iterator[tuple[str, Any]]:
    yield from _facts(_made("KTO", tiny.rows("prompt", "completion", "label"), **LENGTHS))


def _of_pairs(name: str) -> Iterator[tuple[str, Any]]:
    if _found(f"{name}Trainer"):
        yield from _facts(_made(name, tiny.rows("prompt", "chosen", "rejected"), **LENGTHS))


def orpo() -> Iterator[tuple[str, Any]]:
    yield from _of_pairs("ORPO")


def cpo() -> Iterator[tuple[str, Any]]:
    yield from _of_pairs("CPO")


def reward() -> Iterator[tuple[str, Any]]:
    import torch
    from transformers import LlamaConfig, LlamaForSequenceClassification

    torch.manual_seed(0)
    model = LlamaForSequenceClassification(LlamaConfig(**tiny.SIZE, num_labels=1, pad_token_id=0))
    yield from _facts(_made("Reward", tiny.rows("chosen", "rejected"), model=model, max_length=16))


def grpo() -> Iterator[tuple[str, Any]]:
    seen: list[Any] = []

    def scored(prompts: Any, completions: Any, **kwargs: Any) -> Any:
        seen.append([prompts, len(completions), type(completions[0]).__name__, sorted(kwargs)])
        seen.append({key: type(value).__name__ for key, value in sorted(kwargs.items())})
        return [float(len(text)) for text in completions]

    if not _found("GRPOTrainer"):
        return
    made = _made(
        "GRPO",
        tiny.rows("prompt", "answer"),
        reward_funcs=scored,
        num_generations=2,
        max_completion_length=4,
        per_device_train_batch_size=2,
        beta=0.0,
    )
    yield "sampling", [made.args.temperature, made.args.top_p, made.args.num_iterations]
    yield "callbacks", [type(callback).__name__ for callback in made.callback_handler.callbacks]
    made.train()
    yield "seen", seen[0]
    yield "keywords", seen[1]
    yield "calls", len(seen) // 2
    yield "history", [sorted(entry) for entry in made.state.log_history]
    yield "reference", type(getattr(made, "ref_model", None)).__name__
    yield "steps", made.state.global_step


def grpo_messages() -> Iterator[tuple[str, Any]]:
    seen: list[Any] = []

    def scored(completions: Any, **kwargs: Any) -> Any:
        seen.append(
            [type(completions[0]).__name__, completions[0][0]["role"], kwargs["prompts"][0]]
        )
        return [0.5 for _ in completions]

    if not _found("GRPOTrainer"):
        return
    rows = tiny.rows("messages").map(
        lambda row: {"prompt": row["messages"][:1]}, remove_columns=["messages"]
    )
    made = _made(
        "GRPO",
        rows,
        reward_funcs=scored,
        num_generations=2,
        max_completion_length=4,
        per_device_train_batch_size=2,
    )
    made.train()
    yield "seen", seen[0]
