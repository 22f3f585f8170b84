"""The special tokens of `DPOTrainer` up to TRL 0.11, with the release named and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .programs import printed, run_text

pytest.importorskip("trl")

SCRIPT = """
import json, sys
from pathlib import Path
import patchkit
patchkit.apply(only=[], legacy=json.loads(sys.argv[1]))
exec(compile(Path(sys.argv[2]).read_text(), "prelude.py", "exec"))
from tokenizers.processors import TemplateProcessing
from trl import DPOConfig, DPOTrainer

def ids(tokenizer, prompts):
    rows = Dataset.from_dict({"prompt": prompts, "chosen": ["c"] * 2, "rejected": ["d </s>"] * 2})
    trainer = DPOTrainer(model(), args=DPOConfig(**FAST), train_dataset=rows, processing_class=tokenizer)
    rows = trainer.train_dataset
    return [[tokenizer.convert_ids_to_tokens(row[name]) for name in ("prompt_ids", "chosen_ids",
             "rejected_ids")] for row in rows]

def tokenizer(begins):
    made = AutoTokenizer.from_pretrained(MODEL, bos_token="<s>", clean_up_tokenization_spaces=False)
    if begins:
        made.backend_tokenizer.post_processor = TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", made.bos_token_id)])
    return made

long = " ".join(["a"] * 600)
found = {str(begins): ids(tokenizer(begins), ["<s> a b ", "a b "]) for begins in (False, True)}
found["longer"] = len(ids(tokenizer(False), [long, long])[0][0])
print(json.dumps(found))
"""


def _found(choice: object, folder: Path) -> dict[str, Any]:
    prelude = Path(__file__).with_name("prelude.py")
    done = run_text(SCRIPT, json.dumps(choice), str(prelude), folder=folder)
    found: dict[str, Any] = printed(done)
    return found


@pytest.mark.skipif(
    "not __import__('patchkit').environment.in_range("
    "__import__('importlib.metadata').metadata.version('trl'), '>=0.29')",
    reason="the layer adds tokens to the output of newer trainers",
)
def test_special_tokens(tmp_path: Path) -> None:
    today, then = _found(True, tmp_path), _found("trl==0.11.4", tmp_path)

    def firsts(found: list[list[list[str]]]) -> list[int]:
        return [row[0].count("<s>") for row in found]

    assert (firsts(today["False"]), firsts(today["True"])) == ([1, 0], [2, 1])
    for begins in ("False", "True"):
        for prompt, chosen, rejected in then[begins]:
            assert (prompt.count("<s>"), prompt[0]) == (1, "<s>")
            assert (chosen.count("</s>"), chosen[-1]) == (1, "</s>")
            assert (rejected.count("</s>"), rejected[-1]) == (1, "</s>")
    assert (today["longer"], then["longer"]) == (600, 128)
