"""The results of `apply_chat_template`, for scripts that read ids and for current ones."""

from __future__ import annotations

from importlib.metadata import version

import pytest

pytest.importorskip("trl")

from patchkit.environment import in_range

from .both_sides import Side, run

pytestmark = pytest.mark.skipif(
    in_range(version("transformers"), "<5"), reason="it gives ids before Transformers 5"
)
_START = (
    "one = [{'role': 'user', 'content': 'the first row of text'}]\n"
    "text = TOKENIZER.apply_chat_template(one, tokenize=False)\n"
    "ids = TOKENIZER.encode(text, add_special_tokens=False)\n"
)

READ = {
    "generated": (
        "inputs = TOKENIZER.apply_chat_template(\n"
        "    one,\n"
        "    tokenize=True,\n"
        "    add_generation_prompt=True,\n"
        "    return_tensors='pt',\n"
        ").to('cpu')\n"
        "made = model().generate(input_ids=inputs, max_new_tokens=2)\n"
        "result = made.shape[1] - inputs.shape[1]",
        "AttributeError",
        2,
    ),
    "generated_from_the_first": (
        "inputs = TOKENIZER.apply_chat_template(one, return_tensors='pt').to('cpu')\n"
        "out = model().generate(inputs, max_new_tokens=2)\n"
        "result = len(TOKENIZER.convert_ids_to_tokens(out[0][inputs.size(1):]))",
        "AttributeError",
        2,
    ),
    "first_row_decoded": (
        "made = TOKENIZER.apply_chat_template(one, return_tensors='pt')\n"
        "result = TOKENIZER.decode(made[0]) == TOKENIZER.decode(ids)",
        "TypeError",
        True,
    ),
    "joined": (
        "prompt = TOKENIZER.apply_chat_template(one)\n"
        "both = TOKENIZER.apply_chat_template(one + one)\n"
        "labels = [-100] * len(prompt) + both[len(prompt):]\n"
        "result = len(labels) == len(both) and torch.tensor(prompt + both).ndim",
        "TypeError",
        1,
    ),
    "labels_of_a_row": (
        "def encode(row):\n"
        "    made = TOKENIZER.apply_chat_template([{'role': 'user', 'content': row['text']}])\n"
        "    labels = made.copy()\n"
        "    labels[:2] = [-100] * 2\n"
        "    labels.extend([])\n"
        "    return {'input_ids': made, 'labels': labels, 'attention_mask': [1] * len(made)}\n"
        "row = ROWS.map(encode)[0]\n"
        "result = row['input_ids'] == ids and row['labels'][:2]",
        "Error: ",  # a dictionary takes a slice for a key since Python 3.12
        [-100, -100],
    ),
    "in_a_function": (
        "def encode(messages):\n"
        "    return TOKENIZER.apply_chat_template(messages, return_tensors='pt')\n"
        "inputs = encode(one)\n"
        "result = list(model().generate(inputs, max_new_tokens=1).shape) == [1, len(ids) + 1]",
        "AttributeError",
        True,
    ),
    "in_a_list": (
        "rows = [TOKENIZER.apply_chat_template(messages) for messages in (one, one + one)]\n"
        "result = [max(len(row) for row in rows) == 2 * len(ids), torch.tensor(rows[0]).ndim]",
        "RuntimeError",
        [True, 1],
    ),
    "in_an_object": (
        "class Prompts: pass\n"
        "prompts = Prompts()\n"
        "prompts.made = TOKENIZER.apply_chat_template(one, return_tensors='pt')\n"
        "result = list(model().generate(prompts.made, max_new_tokens=1).shape)[1] - len(ids)",
        "AttributeError",
        1,
    ),
    "kept_out_of_sight": (
        "def made():\n"
        "    yield TOKENIZER.apply_chat_template(one, return_tensors='pt')\n"
        "(inputs,) = made()\n"
        "out = model().generate(input_ids=inputs, max_new_tokens=1)\n"
        "result = [out.shape[1] - inputs.shape[1], TOKENIZER.batch_decode(inputs)[0][:4]]",
        "AttributeError",
        [1, "user"],
    ),
}
"""Pieces that fail today: the piece, its error, and the result with the layer."""

COUNTED = {
    "value_of_a_row": (
        "def encode(row):\n"
        "    return {'prompt': TOKENIZER.apply_chat_template(one)}\n"
        "rows = ROWS.map(encode)\n"
        "others = ROWS.map(lambda row: {'prompt': TOKENIZER.apply_chat_template(one)})\n"
        "result = rows[0]['prompt'] == ids == others[0]['prompt']",
        False,
    ),
    "counted": ("result = len(TOKENIZER.apply_chat_template(one)) == len(ids)", False),
    "filtered": (
        "rows = Dataset.from_dict({'messages': [one, one * 9]})\n"
        "few = len(ids) * 2\n"
        "kept = rows.filter(\n"
        "    lambda row: len(TOKENIZER.apply_chat_template(row['messages'])) < few,\n"
        "    load_from_cache_file=False,\n"
        ")\n"
        "result = len(kept) == 1",
        False,
    ),
    "in_a_row": (
        "rows = ROWS.map(\n"
        "    lambda row: {'input_ids': TOKENIZER.apply_chat_template(one)},\n"
        "    load_from_cache_file=False,\n"
        ")\n"
        "result = rows[0]['input_ids'] == ids",
        False,
    ),
}
"""Pieces that read ids, and get something else today without an error."""

TODAYS = {
    "by_name": "result = TOKENIZER.apply_chat_template(one)['input_ids']",
    "by_attribute": (
        "made = TOKENIZER.apply_chat_template(one, return_tensors='pt')\n"
        "result = [type(made).__name__, len(made), list(made.input_ids.shape)]"
    ),
    "handed_on": (
        "made = TOKENIZER.apply_chat_template(one, return_tensors='pt').to('cpu')\n"
        "out = model().generate(**made, max_new_tokens=1)\n"
        "result = [len(made), out.shape[1] - made['input_ids'].shape[1]]"
    ),
    "mapped": (
        "rows = ROWS.map(lambda row: TOKENIZER.apply_chat_template(one))\n"
        "result = sorted(rows.column_names)"
    ),
    "asked_for_its_kind": (
        "made = TOKENIZER.apply_chat_template(one)\n"
        "result = len(made) if isinstance(made, list) else len(made['input_ids'])"
    ),
    "another_value_of_that_name": (
        "made = TOKENIZER.apply_chat_template(one)\n"
        "count = len(made)\n"
        "keys = sorted(made.keys())\n"
        "made = torch.tensor([1])\n"
        "result = [count, keys, made.shape[0]]"
    ),
    "encodings": (
        "made = TOKENIZER.apply_chat_template(one)\nresult = [made[0].ids, type(made[0]).__name__]"
    ),
    "not_from_a_template": "result = TOKENIZER('a row', return_tensors='pt').shape",
}
"""Pieces of current scripts."""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    pieces = {
        **{name: piece[0] for name, piece in {**READ, **COUNTED}.items()},
        **TODAYS,
    }
    return run(
        {name: _START + piece for name, piece in pieces.items()}, tmp_path_factory.mktemp("sides")
    )


@pytest.mark.parametrize("name", READ)
def test_ids_are_given_to_what_would_fail(name: str, sides: tuple[Side, Side]) -> None:
    _, error, result = READ[name]
    assert error in str(sides[0].outcomes[name])
    assert sides[1].outcomes[name] == result
    assert "write return_dict=False" in sides[1].lines(name)


@pytest.mark.parametrize("name", COUNTED)
def test_ids_are_given_to_what_counts_or_keeps_them(name: str, sides: tuple[Side, Side]) -> None:
    assert sides[0].outcomes[name] is COUNTED[name][1]
    assert sides[1].outcomes[name] is True
    assert "apply_chat_template(tokenize=True) that gives ids" in sides[1].lines(name)


@pytest.mark.parametrize("name", TODAYS)
def test_what_is_of_today_gets_the_same(name: str, sides: tuple[Side, Side]) -> None:
    assert sides[1].outcomes[name] == sides[0].outcomes[name]
    assert "gives ids" not in sides[1].lines(name)
