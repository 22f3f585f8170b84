"""Calls of old scripts that raise today and run with the legacy layer."""

from __future__ import annotations

from typing import Any

import pytest

from .both_sides import Side, run
from .old_data import DATA, MODELS, TOKENIZERS
from .old_settings import BY_NAME, LOADING, MEANT, OWN_SETTINGS, SETTINGS
from .old_trainings import COMBINATIONS, COPIES, NO_COPIES, OWN_METHODS

OLD = {
    **LOADING,
    **BY_NAME,
    **SETTINGS,
    **OWN_SETTINGS,
    **COMBINATIONS,
    **OWN_METHODS,
    **TOKENIZERS,
    **DATA,
    **MODELS,
}
ALL = {**OLD, **MEANT}
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
TRAINER = (
    "from trl import DPOTrainer\n"
    "DPOTrainer(model(), args=arguments(), train_dataset=PAIRS, tokenizer=TOKENIZER{})"
)
UNCALLED = (
    "from trl import DPOConfig, DPOTrainer\n"
    "class Own(DPOTrainer):\n"
    "    def dpo_loss(self, policy_chosen_logps, policy_rejected_logps, *reference):\n"
    "        return -policy_chosen_logps, policy_chosen_logps, policy_rejected_logps\n"
    "DPOConfig(**FAST)\n"
    "Own(model=model(), args=DPOConfig(**FAST), train_dataset=PAIRS, processing_class=TOKENIZER)"
)
UNKNOWN_TOKEN = (
    "from trl import SFTConfig, SFTTrainer\n"
    "tokenizer = AutoTokenizer.from_pretrained(MODEL)\n"
    "tokenizer.pad_token, tokenizer.unk_token = '<PAD>', None\n"
    "SFTTrainer(MODEL, SFTConfig(**FAST), train_dataset=ROWS, processing_class=tokenizer)"
)
REFUSED = {
    "unknown_token": UNKNOWN_TOKEN,
    "contradiction": CONTRADICTION,
    "unlike_adapters": UNLIKE_ADAPTERS,
    "uncalled": UNCALLED,
} | {name: piece for name, (piece, _) in COPIES.items()}
CALLED = (
    "from trl import DPOConfig, DPOTrainer\n"
    "class Own(DPOTrainer):\n"
    "    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):\n"
    "        return self.dpo_loss(model(inputs['input_ids']).logits)\n"
    "    def dpo_loss(self, logits):\n"
    "        return logits.sum()\n"
    "trainer = Own(model=model(), args=DPOConfig(**FAST), train_dataset=PAIRS,\n"
    "    processing_class=TOKENIZER)\n"
    "result = trainer.train().global_step"
)
"""A method of an old name that the script itself calls."""
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
    pieces = {name: case[0] for name, case in ALL.items()} | REFUSED
    pieces |= {"calls_counted": CALLS_COUNTED, "called": CALLED} | NO_COPIES
    pieces["given_to_the_trainer"] = TRAINER.format(", max_prompt_length=9")
    pieces["left_to_the_trainer"] = TRAINER.format("")
    return run(pieces, tmp_path_factory.mktemp("sides"))


@pytest.mark.parametrize("name", ALL)
def test_an_old_call_raises_without_the_layer(name: str, sides: tuple[Side, Side]) -> None:
    _, without, _, _ = ALL[name]
    found = sides[0].outcomes[name]
    assert found == without if not isinstance(without, str) else without in str(found)


@pytest.mark.parametrize("name", ALL)
def test_it_works_with_the_layer_which_says_so(name: str, sides: tuple[Side, Side]) -> None:
    _, _, result, told = ALL[name]
    assert sides[1].outcomes[name] == result
    assert told in sides[1].lines(name)


def test_no_default_is_told_of_a_value_that_was_given(sides: tuple[Side, Side]) -> None:
    default = "max_prompt_length was 128 until TRL 0.12.0"
    assert default in sides[1].lines("left_to_the_trainer")
    assert default not in sides[1].lines("given_to_the_trainer")
    assert default not in sides[1].lines("kept_flags")


def test_contradictions_are_refused_in_a_line(sides: tuple[Side, Side]) -> None:
    outcomes: dict[str, Any] = sides[1].outcomes
    assert outcomes["contradiction"].startswith("LegacyError: contradiction.py:2: ")
    assert "They differ in r." in outcomes["unlike_adapters"]
    assert outcomes["uncalled"].startswith(
        "LegacyError: uncalled.py:3: Own.dpo_loss has been gone since TRL 0.29.0. "
    )
    assert outcomes["unknown_token"].startswith("LegacyError: unknown_token.py:4: SFTTrainer with")
    assert "For a token of its own write" in outcomes["unknown_token"]
    assert not any("\n" in outcomes[name] for name in REFUSED)


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_methods_of_older_releases_are_refused(
    name: str, sides: tuple[Side, Side]
) -> None:
    found: Any = sides[1].outcomes[name]
    assert found.startswith(COPIES[name][1])


@pytest.mark.parametrize("name", NO_COPIES)
def test_what_is_no_copy_is_left_alone(name: str, sides: tuple[Side, Side]) -> None:
    assert sides[1].outcomes[name] is True


def test_what_is_refused_is_an_error_or_worse_without_the_layer(
    sides: tuple[Side, Side],
) -> None:
    assert "ValueError: The specified `pad_token`" in sides[0].outcomes["unknown_token"]
    assert sides[0].outcomes["uncalled"] is None  # its own loss is passed over


def test_an_own_method_of_an_old_name_is_let_be(sides: tuple[Side, Side]) -> None:
    assert [side.outcomes["called"] for side in sides] == [1, 1]
    assert "dpo_loss" not in sides[1].lines("called")


def test_a_token_is_not_told(sides: tuple[Side, Side]) -> None:
    assert not any("secret" in line for line in sides[1].told)


def test_a_formatting_function_of_today_is_called_as_without_the_layer(
    sides: tuple[Side, Side],
) -> None:
    assert [side.outcomes["calls_counted"] for side in sides] == [True, True]
    assert "formatting_func" not in sides[1].lines("calls_counted")
