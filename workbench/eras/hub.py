"""The models and datasets that scripts ask the Hub for, and what stands in for each."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from . import rows
from .rows import Row

ROWS = 48
"""Rows in each split of a dataset."""

MODELS: dict[str, tuple[str, ...]] = {
    "llama": (
        "huggyllama/llama-7b",
        "meta-llama/Llama-2-7b-hf",
        "NousResearch/Llama-2-7b-chat-hf",
        "meta-llama/Llama-2-7b-chat-hf",
    ),
    "tinyllama": ("TinyLlama/TinyLlama-1.1B-Chat-v1.0",),
    "mistral": ("mistralai/Mistral-7B-v0.1", "mistralai/Mistral-7B-Instruct-v0.2"),
    "llama3": ("meta-llama/Meta-Llama-3-8B", "meta-llama/Llama-3.2-1B-Instruct"),
    "opt": ("facebook/opt-350m", "facebook/opt-125m"),
    "gpt2": ("gpt2", "lvwerra/gpt2-imdb"),
    "pythia": ("EleutherAI/pythia-160m", "EleutherAI/pythia-1b-deduped"),
    "phi": ("microsoft/phi-2",),
    "qwen2": (
        "Qwen/Qwen2-0.5B-Instruct",
        "Qwen/Qwen2.5-0.5B",
        "Qwen/Qwen2.5-0.5B-Instruct",
        "Qwen/Qwen2.5-1.5B-Instruct",
    ),
    "qwen3": ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B"),
    "smollm": ("HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    "distilbert": ("distilbert-base-uncased", "lvwerra/distilbert-imdb"),
    "roberta": ("FacebookAI/roberta-base",),
    "t5": ("google/flan-t5-small",),
}


@dataclass(frozen=True)
class Dataset:
    """What stands in for a dataset.

    Args:
        kind: makes a row.
        splits: their names.
        config: the name of the configuration.
    """

    kind: Callable[[random.Random], Row]
    splits: tuple[str, ...] = ("train",)
    config: str = "default"


BOTH = ("train", "test")

DATASETS: dict[str, Dataset] = {
    "tatsu-lab/alpaca": Dataset(rows.alpaca),
    "yahma/alpaca-cleaned": Dataset(rows.alpaca),
    "vicgalle/alpaca-gpt4": Dataset(rows.alpaca),
    "timdettmers/openassistant-guanaco": Dataset(rows.guanaco, BOTH),
    "mlabonne/guanaco-llama2-1k": Dataset(rows.llama_chat_text),
    "databricks/databricks-dolly-15k": Dataset(rows.dolly),
    "imdb": Dataset(rows.labelled, BOTH),
    "stanfordnlp/imdb": Dataset(rows.labelled, BOTH),
    "b-mc2/sql-create-context": Dataset(rows.sql),
    "samsum": Dataset(rows.dialogue, BOTH),
    "HuggingFaceH4/ultrachat_200k": Dataset(rows.chat, ("train_sft", "test_sft")),
    "HuggingFaceH4/no_robots": Dataset(rows.chat, BOTH),
    "trl-lib/Capybara": Dataset(rows.capybara, BOTH),
    "mlabonne/FineTome-100k": Dataset(rows.sharegpt),
    "Anthropic/hh-rlhf": Dataset(rows.harmless, BOTH),
    "Dahoas/rm-static": Dataset(rows.harmless_pairs, BOTH),
    "Intel/orca_dpo_pairs": Dataset(rows.orca_pairs),
    "lvwerra/stack-exchange-paired": Dataset(rows.stack_pairs),
    "HuggingFaceH4/ultrafeedback_binarized": Dataset(rows.feedback, ("train_prefs", "test_prefs")),
    "trl-lib/ultrafeedback_binarized": Dataset(rows.implicit_pairs, BOTH),
    "argilla/dpo-mix-7k": Dataset(rows.dpo_mix, BOTH),
    "mlabonne/orpo-dpo-mix-40k": Dataset(rows.orpo_mix),
    "trl-lib/kto-mix-14k": Dataset(rows.unpaired, BOTH),
    "trl-lib/tldr": Dataset(rows.summaries, ("train", "validation")),
    "trl-lib/ultrafeedback-prompt": Dataset(rows.prompts, BOTH),
    "openai/gsm8k": Dataset(rows.arithmetic, BOTH, "main"),
    "Jiayi-Pan/Countdown-Tasks-3to4": Dataset(rows.countdown),
    "trl-lib/math_shepherd": Dataset(rows.stepwise, BOTH),
}
