"""Datasets made of text files, from Transformers before 5."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.utils.data import Dataset

from ..converting.tokenizing import with_special_tokens


class TextDataset(Dataset[torch.Tensor]):
    """Blocks of token ids of a text file. What is left at its end is dropped.

    Args:
        tokenizer: it makes the ids.
        file_path: the file.
        block_size: the length of a block, with its special tokens.
        overwrite_cache: without effect; nothing is cached.
        cache_dir: without effect.

    Raises:
        ValueError: there is no such file.
    """

    def __init__(
        self,
        tokenizer: Any,
        file_path: str,
        block_size: int,
        overwrite_cache: bool = False,
        cache_dir: str | None = None,
    ) -> None:
        ids = tokenizer.encode(_text(file_path), add_special_tokens=False)
        length = block_size - tokenizer.num_special_tokens_to_add(pair=False)
        self.examples = [
            with_special_tokens(tokenizer, ids[start : start + length])
            for start in range(0, len(ids) - length + 1, length)
        ]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, i: int) -> torch.Tensor:
        return torch.tensor(self.examples[i], dtype=torch.long)


class LineByLineTextDataset(Dataset[dict[str, torch.Tensor]]):
    """The token ids of each line of a text file that is not empty.

    Args:
        tokenizer: it makes the ids.
        file_path: the file.
        block_size: lines are cut to this length.

    Raises:
        ValueError: there is no such file.
    """

    def __init__(self, tokenizer: Any, file_path: str, block_size: int) -> None:
        lines = [line for line in _text(file_path).splitlines() if line and not line.isspace()]
        rows = tokenizer(lines, add_special_tokens=True, truncation=True, max_length=block_size)
        self.examples = [
            {"input_ids": torch.tensor(ids, dtype=torch.long)} for ids in rows["input_ids"]
        ]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, i: int) -> dict[str, torch.Tensor]:
        return self.examples[i]


def _text(path: str) -> str:
    if not os.path.isfile(path):
        raise ValueError(f"Input file path {path} not found")
    with open(path, encoding="utf-8") as file:
        return file.read()
