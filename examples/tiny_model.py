"""Make a folder with a tiny Llama, its tokenizer, and rows to train it on.

    python examples/tiny_model.py tiny

The scripts of 2024 here take it in place of a model of the Hub: they run in seconds, offline.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

from patchkit.lab import tiny


def main(folder: Path) -> None:
    tiny.build_causal_lm(folder, dtype="bfloat16")
    words = tiny.WORDS
    rows = [
        {"instruction": f"{word} {other}", "response": f"{other} {word}"}
        for word, other in pairwise(words)
    ]
    lines = (json.dumps(row) for row in rows)
    (folder / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
