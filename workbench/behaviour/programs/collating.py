"""Each collator of Transformers, with rows that need padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import tiny

ROWS = (
    {"input_ids": [1, 6, 8, 2], "attention_mask": [1, 1, 1, 1]},
    {"input_ids": [1, 6], "attention_mask": [1, 1]},
)


def _rows(**columns: Any) -> list[dict[str, Any]]:
    return [
        {**row, **{name: values[number] for name, values in columns.items()}}
        for number, row in enumerate(ROWS)
    ]


def language_modeling() -> Iterator[tuple[str, Any]]:
    import torch
    from transformers import DataCollatorForLanguageModeling

    made = tiny.tokenizer(mask_token="is")
    yield "causal", DataCollatorForLanguageModeling(made, mlm=False)(_rows())
    yield (
        "pad is eos",
        DataCollatorForLanguageModeling(tiny.tokenizer(pad_token="</s>"), mlm=False)(_rows()),
    )
    yield (
        "lists",
        DataCollatorForLanguageModeling(made, mlm=False)([row["input_ids"] for row in ROWS]),
    )
    torch.manual_seed(0)
    masked = DataCollatorForLanguageModeling(made, mlm_probability=0.5)([*_rows()] * 4)
    yield "masked", {name: list(value.shape) for name, value in masked.items()}
    yield "fill", sorted({int(value) for value in masked["labels"].flatten()})[0]


def padding() -> Iterator[tuple[str, Any]]:
    from transformers import (
        DataCollatorForSeq2Seq,
        DataCollatorForTokenClassification,
        DataCollatorWithPadding,
    )

    made = tiny.tokenizer()
    labels = [[6, 8, 2], [6]]
    yield "padding", DataCollatorWithPadding(made)(_rows(label=[0, 1]))
    yield "padding of labels", DataCollatorWithPadding(made)(_rows(labels=[0.5, 1.0]))
    yield "seq2seq", DataCollatorForSeq2Seq(made)(_rows(labels=labels))
    yield (
        "seq2seq with a model",
        DataCollatorForSeq2Seq(made, model=tiny.t5())(_rows(labels=labels)),
    )
    yield (
        "seq2seq, multiple",
        DataCollatorForSeq2Seq(made, pad_to_multiple_of=8)(_rows(labels=labels)),
    )
    yield "seq2seq, arrays", DataCollatorForSeq2Seq(made, return_tensors="np")(_rows(labels=labels))
    yield "seq2seq without labels", DataCollatorForSeq2Seq(made)(_rows())
    tags = [[0, 1, 1, 0], [0, 1]]
    yield "tokens", DataCollatorForTokenClassification(made)(_rows(labels=tags))
    made.padding_side = "left"
    yield "seq2seq, left", DataCollatorForSeq2Seq(made)(_rows(labels=labels))


def plain() -> Iterator[tuple[str, Any]]:
    import transformers

    rows = [{"input_ids": [1, 6], "label": number, "text": "x", "none": None} for number in (0, 1)]
    yield "default", transformers.default_data_collator(rows)
    yield "label_ids", transformers.default_data_collator([{"x": [1.5], "label_ids": [1, 2]}] * 2)
    yield "object", transformers.DefaultDataCollator()(rows)
    if hasattr(transformers, "DataCollatorWithFlattening"):
        yield "flat", transformers.DataCollatorWithFlattening()(_rows())


def of_trl() -> Iterator[tuple[str, Any]]:
    import importlib

    for module, name, keywords, rows in (
        (
            "trl.trainer.sft_trainer",
            "DataCollatorForLanguageModeling",
            {"pad_token_id": 0},
            _rows(),
        ),
        (
            "trl.trainer.sft_trainer",
            "DataCollatorForLanguageModeling",
            {"pad_token_id": 0, "completion_only_loss": True},
            _rows(completion_mask=[[0, 0, 1, 1], [0, 1]]),
        ),
        (
            "trl.trainer.dpo_trainer",
            "DataCollatorForPreference",
            {"pad_token_id": 0},
            [
                {
                    "prompt_input_ids": [1, 6],
                    "prompt_ids": [1, 6],
                    "chosen_input_ids": [8],
                    "chosen_ids": [8],
                    "rejected_input_ids": [9, 9],
                    "rejected_ids": [9, 9],
                }
            ]
            * 2,
        ),
    ):
        cls = getattr(importlib.import_module(module), name, None)
        if cls is not None:
            yield f"{name}{sorted(keywords)}", cls(**keywords)(rows)
