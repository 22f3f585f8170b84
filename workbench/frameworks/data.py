"""Write the datasets that frameworks train with: rows of words that the tiny models know."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from patchkit.lab.tiny import WORDS

_ROWS = 16


def write_datasets(folder: Path) -> None:
    """Write one file for each kind of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(0)
    rows = [_row(chance, number) for number in range(_ROWS)]
    for name, columns in _COLUMNS.items():
        lines = (json.dumps({new: row[old] for new, old in columns.items()}) for row in rows)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(chance: random.Random, number: int) -> dict[str, Any]:
    prompt, chosen, rejected = (
        " ".join(chance.choices(WORDS, k=chance.randint(4, 8))) for _ in range(3)
    )
    asked, good, bad = (
        _turn("user", prompt),
        _turn("assistant", chosen),
        _turn("assistant", rejected),
    )
    return {
        "prompt": prompt,
        "chosen": chosen,
        "rejected": rejected,
        "text": f"{prompt} {chosen}",
        "empty": "",
        "asked": [asked],
        "messages": [asked, good],
        "chosen messages": [asked, good],
        "rejected messages": [asked, bad],
        "rejected answer": [bad],
        "label": number % 2,
        "liked": bool(number % 2),
    }


def _turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


_COLUMNS = {
    "texts": {"text": "text"},
    "chats": {"messages": "messages"},
    "instructions": {"instruction": "prompt", "input": "empty", "output": "chosen"},
    "pairs": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"},
    "pairs-of-instructions": {
        "instruction": "prompt",
        "input": "empty",
        "chosen": "chosen",
        "rejected": "rejected",
    },
    "pairs-of-chats": {
        "prompt": "prompt",
        "chosen": "chosen messages",
        "rejected": "rejected messages",
    },
    "prompts": {"prompt": "asked"},
    "asked": {"messages": "asked"},
    "liked": {"instruction": "prompt", "input": "empty", "output": "chosen", "liked": "liked"},
    "liked-completions": {"prompt": "prompt", "completion": "chosen", "label": "liked"},
    "liked-chats": {"messages": "messages", "label": "liked"},
    "labels": {"text": "text", "label": "label"},
    "anchors": {"anchor": "prompt", "positive": "chosen"},
    "chats-and-rejected": {"messages": "messages", "rejected_messages": "rejected messages"},
}
"""Columns of each dataset, and what of a row is in them."""
