"""A tiny model and made-up rows for pieces of old scripts."""

from pathlib import Path

import datasets
import torch
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

from patchkit.lab import tiny

datasets.disable_progress_bars()
MODEL = str(tiny.build_causal_lm(Path("model")))
TOKENIZER = AutoTokenizer.from_pretrained(MODEL)
TEXTS = ["the first row of text", "a second row", "third one here", "and a fourth row"]
ROWS = Dataset.from_dict({"text": TEXTS})
PAIRS = Dataset.from_dict(
    {"prompt": ["a b", "c d"], "chosen": ["the first", "second"], "rejected": ["third", "one"]}
)
FAST = {
    "output_dir": "out",
    "max_steps": 1,
    "per_device_train_batch_size": 2,
    "report_to": "none",
    "use_cpu": True,
    "logging_steps": 1,
    "save_strategy": "no",
    "disable_tqdm": True,
}


def model():
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)


def arguments(**settings):
    return TrainingArguments(**{**FAST, **settings})


def plain_trainer(kind=Trainer, **settings):
    return kind(
        model=model(),
        args=arguments(**settings),
        train_dataset=ROWS.map(lambda row: TOKENIZER(row["text"]), remove_columns="text"),
        data_collator=DataCollatorForLanguageModeling(TOKENIZER, mlm=False),
    )
