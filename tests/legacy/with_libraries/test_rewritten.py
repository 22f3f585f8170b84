"""What old calls gave with the layer they give without it, once `modernize` has rewritten them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("libcst")

from patchkit.modernize.python import modernize
from patchkit.modernize.target import due_for

from .both_sides import PRELUDE, Side, run_without
from .old_settings import LOADING, SETTINGS
from .old_trainings import COMBINATIONS

OLD = {**LOADING, **SETTINGS, **COMBINATIONS}
_COMMAND_LINE = "command lines and files of settings are rewritten by themselves"
_COLUMNS = "a script does not say which columns a dataset has"
NOT_IN_THE_TEXT = {
    "flags": _COMMAND_LINE,
    "bare_flag": _COMMAND_LINE,
    "keys": _COMMAND_LINE,
    "yaml_file": _COMMAND_LINE,
    "own_arguments": _COMMAND_LINE,
    "kept_flags": _COMMAND_LINE,
    "adapters_of_a_language_model": "the adapters' configuration lies in a folder",
    "text_beside_prompt": _COLUMNS,
    "settings_of_trainers": "the configuration of a trainer is not followed, nor is a private method",
    "callback_that_hands_on": "what a method hands on by ** is not followed",
    "prompts_of_pairs_then_answers": "two configurations get one dictionary, which gets a remark",
}
"""Names of pieces to the reason why their text does not show what is old in them."""
_LEFT = {"yaml_file": "Unknown arguments from config file"}
"""What the rest of a piece raises whose text shows a part."""


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Side:
    prelude, due = PRELUDE.read_text(encoding="utf-8"), due_for()
    pieces = {name: modernize(prelude + case[0], due).text for name, case in OLD.items()}
    return run_without(pieces, tmp_path_factory.mktemp("rewritten") / "off")


@pytest.mark.parametrize("name", [name for name in OLD if name not in NOT_IN_THE_TEXT])
def test_it_works_without_the_layer(name: str, rewritten: Side) -> None:
    result: Any = OLD[name][2]
    assert rewritten.outcomes[name] == result


@pytest.mark.parametrize("name", NOT_IN_THE_TEXT)
def test_what_a_text_does_not_show(name: str, rewritten: Side) -> None:
    assert _LEFT.get(name, OLD[name][1]) in str(rewritten.outcomes[name])
