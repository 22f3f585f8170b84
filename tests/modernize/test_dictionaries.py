"""Keywords that come from dictionaries, wherever these get them."""

from __future__ import annotations

import pytest

BEGIN = """
from functools import partial
from transformers import TrainingArguments
"""


@pytest.mark.parametrize(
    "text",
    [
        "base = dict(no_cuda=True)\nTrainingArguments('o', **{**base, 'seed': 1})",
        "base = {'no_cuda': True}\nall = dict(**base, seed=1)\nTrainingArguments('o', **all)",
        "more = {}\nmore['no_cuda'] = True\nTrainingArguments('o', **more)",
        "more = {}\nif BEGIN:\n    more['no_cuda'] = True\nTrainingArguments('o', **more)",
        "more = {}\nmore.update(no_cuda=True)\nTrainingArguments('o', **more)",
        "more = {}\nmore.update({'no_cuda': True})\nTrainingArguments('o', **more)",
        "make = partial(TrainingArguments, no_cuda=True)\nmake('o')",
        "make = partial(TrainingArguments, **{'no_cuda': True})\nmake('o')",
    ],
)
def test_entries_get_their_names_of_today(rewrite, text: str) -> None:
    assert rewrite(BEGIN + text).text == BEGIN + text.replace("no_cuda", "use_cpu").replace(
        "['use_cpu']", '["use_cpu"]'
    )


@pytest.mark.parametrize(
    "text",
    [
        "more = {'no_cuda': True}\nprint(more)\nTrainingArguments('o', **more)",
        "base = {'no_cuda': True}\nother(**{**base})\nTrainingArguments('o', **base)",
        "more = {}\nmore['warmup_ratio'] = 0.1\nTrainingArguments('o', **more)",
    ],
)
def test_entries_that_may_be_meant_for_others_get_a_remark(rewrite, text: str) -> None:
    result = rewrite(BEGIN + text)
    lines = result.text.splitlines()
    assert sum("# patchkit: TrainingArguments(" in line for line in lines) == 1
    assert "\n".join(line for line in lines if "# patchkit" not in line) == (BEGIN + text)


@pytest.mark.parametrize(
    "text",
    [
        "rows.map(render, fn_kwargs={'tokenizer': it})",
        "rows.map(function=render, num_proc=2, fn_kwargs=dict(tokenizer=it))",
        "more = {'tokenizer': it}\nrows.map(render, fn_kwargs=more)",
        "partial(render, tokenizer=it)",
        "render({}, tokenizer=it)",
    ],
)
def test_what_map_gives_to_a_function_is_that_function_s(rewrite, text: str) -> None:
    begin = "from functools import partial\nfrom trl import maybe_apply_chat_template as render\n"
    today = text.replace("tokenizer", "processing_class")
    assert rewrite(begin + text).text == begin + today
    assert rewrite(begin + text.replace("render", "mine")).text == begin + text.replace(
        "render", "mine"
    )


def test_dictionaries_of_others_are_left(rewrite) -> None:
    text = BEGIN + "more = {'no_cuda': True}\nmore['warmup_ratio'] = 1\nother(**more, **more)\n"
    assert rewrite(text).text == text
