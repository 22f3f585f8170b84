"""Whatever surrounds an old line stays as it is, byte for byte."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("libcst")

from hypothesis import given, settings
from hypothesis import strategies as st

from patchkit.modernize.python import modernize
from patchkit.modernize.target import due_for

DUE = due_for("trl==1.16.0, transformers==5.23.0, peft==0.21.2, accelerate==1.15.0")
HEAD = ["import torch, transformers as tf", "from trl import SFTTrainer, DPOTrainer, DPOConfig"]
OLD = [
    "tf.TrainingArguments('o', evaluation_strategy='no')",
    "tf.Trainer(model, tokenizer=tokenizer)",
    "SFTTrainer(model, args=args, tokenizer=tokenizer, packing=True)",
    "DPOTrainer(model, args=DPOConfig('o', max_prompt_length=9))",
    "x = tf.AdamW(model.parameters())",
    "tf.AutoModel.from_pretrained('m', use_auth_token=True)",
]
OTHERS = [
    "",
    "   ",
    "\x0c",
    "\t# indented by a tab",
    "# type: ignore",
    "x = 1  # Straße, 東京",
    "y = ( 1,2 ,  3,)",
    "if x :y=2;z = 3 ;",
    "print('a'   'b', end = '')",
    "s = '''no # comment\n   \ttokenizer=1\n'''",
    "d = {'a':1,\n   # inside\n      'b' :2}",
    "f(tokenizer=1, max_seq_length = 2)",
    "def g(a, tokenizer=None): # note\n\treturn a\n\n",
    "z = x \\\n    + 1",
    "@decorated\nclass A : pass",
    "lambda  x:x",
]
ENDINGS = st.sampled_from(["\n", "\r\n"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(OTHERS), st.sampled_from(OLD)), min_size=1, max_size=12),
    ENDINGS,
    st.booleans(),
)
def test_it_stays(parts: list[str], ending: str, ends: bool) -> None:
    pieces = [part.replace("\n", ending) for part in (*HEAD, *parts)]
    text = ending.join(pieces) + ending * ends
    result = modernize(text, DUE).text
    ast.parse(result)
    assert modernize(result, DUE).text == result
    assert ("\n" in result.replace("\r\n", "")) == ("\n" in text.replace("\r\n", ""))
    here = 0
    for piece in pieces[len(HEAD) :]:
        if piece not in OLD:
            found = result.find(piece, here)
            assert found >= 0, piece
            here = found + len(piece)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(OTHERS), ENDINGS), max_size=12))
def test_a_script_without_anything_old(parts: list[tuple[str, str]]) -> None:
    text = "".join(part.replace("\n", ending) + ending for part, ending in parts)
    assert modernize(text, DUE).text == text
