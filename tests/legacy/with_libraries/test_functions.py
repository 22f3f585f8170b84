"""Old keywords of TRL's functions, and what else can be seen of these functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from patchkit.environment import in_range, installed_version

from .both_sides import Side, run
from .programs import run_text

pytestmark = pytest.mark.skipif(
    not in_range(installed_version("trl") or "0", ">=1.3"),
    reason="this TRL has the old keywords",
)

_MESSAGES = "{'messages': [{'role': 'user', 'content': 'a row'}]}"
PIECES = {
    "call": (
        "from trl import apply_chat_template\n"
        f"result = 'a row' in apply_chat_template({_MESSAGES}, tokenizer=TOKENIZER)['text']"
    ),
    "mapped": (
        "from trl import maybe_apply_chat_template\n"
        f"rows = Dataset.from_list([{_MESSAGES}])\n"
        "rows = rows.map(maybe_apply_chat_template, fn_kwargs={'tokenizer': TOKENIZER})\n"
        "result = 'a row' in rows['text'][0]"
    ),
    "configuration": (
        "import trl\n"
        "from trl import ModelConfig, get_peft_config\n"
        "result = get_peft_config(model_config=ModelConfig(use_peft=True)).peft_type == 'LORA'\n"
        "trl.get_quantization_config(model_config=ModelConfig())"
    ),
}
TOLD = {
    "call": "apply_chat_template(tokenizer=) has been gone since TRL 1.3.0; write processing_class=",
    "mapped": "maybe_apply_chat_template(tokenizer=) has been gone since TRL 1.3.0; write ",
    "configuration": "get_peft_config(model_config=) has been gone since TRL 0.14.0; write model_",
}
SEEN_FROM_OUTSIDE = """
import copy, inspect, pickle, sys
import patchkit
from patchkit.legacy.layer import LAYER

if sys.argv[1] == "before":
    patchkit.apply(only=[], legacy=True)
import trl
from trl import maybe_apply_chat_template
if sys.argv[1] == "after":
    patchkit.apply(only=[], legacy=True)
taken = trl.maybe_apply_chat_template
assert type(taken).__name__ == "GuardedFunction"
plain = taken.__wrapped__
assert taken.__code__ is plain.__code__ and taken.__doc__ == plain.__doc__
assert inspect.signature(taken) == inspect.signature(plain) and inspect.isfunction(taken)
assert pickle.loads(pickle.dumps(taken)) is taken
assert taken({"text": "as it is"}, None) == {"text": "as it is"}
assert taken({"text": "as it is"}, processing_class=None) == {"text": "as it is"}
assert not LAYER.uses()
assert taken({"text": "as it is"}, tokenizer=None) == {"text": "as it is"}
assert len(LAYER.uses()) == 1
patchkit.revert()
assert trl.maybe_apply_chat_template is trl.data_utils.maybe_apply_chat_template is plain
try:
    taken({"text": "as it is"}, tokenizer=None)
except TypeError:
    print("as before")
"""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    return run(PIECES, tmp_path_factory.mktemp("sides"))


@pytest.mark.parametrize("name", PIECES)
def test_an_old_keyword_raises_without_the_layer(name: str, sides: tuple[Side, Side]) -> None:
    found = str(sides[0].outcomes[name])
    assert found.startswith("TypeError: ")
    assert "argument: 'processing_class'" in found or "keyword argument 'model_config'" in found


@pytest.mark.parametrize("name", PIECES)
def test_it_works_with_the_layer_which_says_so(name: str, sides: tuple[Side, Side]) -> None:
    assert sides[1].outcomes[name] is True
    assert TOLD[name] in sides[1].lines(name)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_function_looks_as_it_did_and_is_given_back(when: str, tmp_path: Path) -> None:
    done = run_text(SEEN_FROM_OUTSIDE, when, folder=tmp_path)
    assert (done.stdout.strip(), done.returncode) == ("as before", 0), done.stderr[-2000:]
