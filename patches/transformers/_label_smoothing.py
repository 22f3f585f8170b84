"""One evaluation in half precision, with label smoothing, by the plain Trainer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any


def half_precision_evaluation_loss(dtype: str, *, rows: int = 16, tokens: int = 128) -> float:
    """Return the evaluation loss of an untrained model that is sure of its mistakes.

    Args:
        dtype: the dtype of the evaluation: "float16", "bfloat16" or "float32".
        rows: number of rows, all in one batch.
        tokens: number of tokens in a row.
    """
    from patchkit.lab import tiny

    tiny.go_offline()
    import torch
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        path = tiny.build_causal_lm(Path(folder) / "model", dtype="float32")
        model = tiny.load(path, dtype="float32")
        model.get_output_embeddings().weight.data *= 20  # a loss of tens, not of five
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(4, len(tiny.load_tokenizer(path)), (rows, tokens), generator=generator)
        data: Any = [{"input_ids": row, "labels": row} for row in ids]
        arguments = transformers.TrainingArguments(
            folder,
            label_smoothing_factor=0.1,
            fp16_full_eval=dtype == "float16",
            bf16_full_eval=dtype == "bfloat16",
            use_cpu=not torch.cuda.is_available(),
            per_device_eval_batch_size=rows,
            report_to=[],
            disable_tqdm=True,
        )
        trainer = transformers.Trainer(model=model, args=arguments, eval_dataset=data)
        return float(trainer.evaluate()["eval_loss"])
