"""Short forms for reproducers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from patchkit.lab import cuda_fp16, tiny, train


def train_in_temporary_folder(trainer: str, **options: Any) -> train.TrainingResult:
    """`train.train` on CUDA's fp16 path, with a folder that is gone afterwards."""
    tiny.go_offline()
    cuda_fp16.install()
    with tempfile.TemporaryDirectory() as folder:
        return train.train(trainer, folder=Path(folder), **options)
