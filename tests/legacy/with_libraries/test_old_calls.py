"""Calls of old scripts that raise today and run with the legacy layer."""

from __future__ import annotations

from typing import Any

import pytest

from .both_sides import Side, run
from .old_data import DATA, MODELS, TOKENIZERS
from .old_settings import LOADING, SETTINGS
from .old_trainings import COMBINATIONS

OLD = {**LOADING, **SETTINGS, **COMBINATIONS, **TOKENIZERS, **DATA, **MODELS}
CONTRADICTION = (
    "from transformers import BitsAndBytesConfig\n"
    "AutoModelForCausalLM.from_pretrained(\n"
    "    MODEL, load_in_8bit=True, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"
)
UNLIKE_ADAPTERS = (
    "import peft\n"
    "from trl import SFTConfig, SFTTrainer\n"
    "def lora(r):\n"
    "    return peft.LoraConfig(r=r, target_modules=['q_proj'], task_type='CAUSAL_LM')\n"
    "SFTTrainer(model=peft.get_peft_model(model(), lora(4)), args=SFTConfig(**FAST), "
    "train_dataset=ROWS, peft_config=lora(8))"
)
REFUSED = {"contradiction": CONTRADICTION, "unlike_adapters": UNLIKE_ADAPTERS}
CALLS_COUNTED = (
    "from trl import SFTConfig, SFTTrainer\n"
    "seen = []\n"
    "def text(row):\n"
    "    seen.append(row['text'])\n"
    "    return row['text']\n"
    "SFTTrainer(model=model(), args=SFTConfig(**FAST), train_dataset=ROWS, formatting_func=text)\n"
    "result = seen == TEXTS"
)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    pieces = {name: case[0] for name, case in OLD.items()} | REFUSED
    pieces["calls_counted"] = CALLS_COUNTED
    return run(pieces, tmp_path_factory.mktemp("sides"))


@pytest.mark.parametrize("name", OLD)
def test_an_old_call_raises_without_the_layer(name: str, sides: tuple[Side, Side]) -> None:
    _, without, _, _ = OLD[name]
    found = sides[0].outcomes[name]
    assert found == without if not isinstance(without, str) else without in str(found)


@pytest.mark.parametrize("name", OLD)
def test_it_works_with_the_layer_which_says_so(name: str, sides: tuple[Side, Side]) -> None:
    _, _, result, told = OLD[name]
    assert sides[1].outcomes[name] == result
    assert told in sides[1].lines(name)


def test_contradictions_are_refused_in_a_line(sides: tuple[Side, Side]) -> None:
    outcomes: dict[str, Any] = sides[1].outcomes
    assert outcomes["contradiction"].startswith("LegacyError: contradiction.py:2: ")
    assert "They differ in r." in outcomes["unlike_adapters"]
    assert not any("\n" in outcomes[name] for name in REFUSED)


def test_a_token_is_not_told(sides: tuple[Side, Side]) -> None:
    assert not any("secret" in line for line in sides[1].told)


def test_a_formatting_function_of_today_is_called_as_without_the_layer(
    sides: tuple[Side, Side],
) -> None:
    assert [side.outcomes["calls_counted"] for side in sides] == [True, True]
    assert "formatting_func" not in sides[1].lines("calls_counted")
