"""Datasets whose other columns have a meaning today."""

from __future__ import annotations

import pytest

BEGIN = "from datasets import load_dataset\nfrom trl import SFTTrainer\n"


@pytest.mark.parametrize("split", ["['train_sft']", ""])
def test_conversations_with_their_first_turn_beside_them(rewrite, split: str) -> None:
    load = "rows = load_dataset('HuggingFaceH4/ultrachat_200k')\n"
    result = rewrite(f"{BEGIN}{load}SFTTrainer('m', train_dataset=rows{split}, tokenizer=t)\n")
    assert f'train_dataset=rows{split}.select_columns(["messages"])' in result.text


@pytest.mark.parametrize(
    "call",
    [
        "load_dataset('mine')",
        "load_dataset('HuggingFaceH4/ultrachat_200k').map(f, remove_columns=['messages'])",
    ],
)
def test_other_datasets_stay(rewrite, call: str) -> None:
    text = f"{BEGIN}SFTTrainer('m', train_dataset={call}, processing_class=t)\n"
    assert rewrite(text).text == text
    old = rewrite(text.replace("processing_class", "tokenizer")).text
    assert "select_columns" not in old


def test_a_script_of_today_stays(rewrite) -> None:
    text = f"{BEGIN}SFTTrainer('m', train_dataset=load_dataset('HuggingFaceH4/no_robots'))\n"
    assert rewrite(text).text == text
