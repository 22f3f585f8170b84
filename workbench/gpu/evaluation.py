"""Evaluating a float32 model in half precision, and training it afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .parts import Row, in_one_line, one_by_one, peak, reset_peak

DTYPES = {"fp16": "float16", "bf16": "bfloat16"}


def units() -> list[str]:
    return list(DTYPES)


def rows(units: list[str]) -> Iterator[Row]:
    from . import models

    with tempfile.TemporaryDirectory() as folder:
        path = models.save_causal_lm(Path(folder), "float32")
        yield from one_by_one(units, partial(_evaluate, path=path))


def _evaluate(precision: str, *, path: Path) -> Row:
    import torch
    import transformers

    from . import models

    model = models.load(path, "float32")
    frequencies = model.model.rotary_emb.inv_freq.clone()
    length = 512 if models.is_large() else 64
    ids = torch.arange(length) % model.config.vocab_size
    data: Any = [{"input_ids": ids, "labels": ids}] * 8
    trainer = transformers.Trainer(
        model=model,
        args=transformers.TrainingArguments(
            str(path / "output"),
            **{precision: True, f"{precision}_full_eval": True},
            use_cpu=not models.is_large(),
            max_steps=1,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=data,
        eval_dataset=data,
    )
    reset_peak()
    row: Row = {"loss": float(trainer.evaluate()["eval_loss"]), **peak()}
    row["dtypes"] = sorted(
        {str(weight.dtype).removeprefix("torch.") for weight in model.parameters()}
    )
    row["frequencies"] = bool(torch.equal(model.model.rotary_emb.inv_freq, frequencies))
    try:
        trainer.train()
    except Exception as error:
        return {**row, "outcome": "died", "error": in_one_line(error)}
    return row
