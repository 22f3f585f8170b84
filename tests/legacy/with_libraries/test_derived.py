"""Dataclasses that scripts derive from configurations, with the layer on and off again."""

from __future__ import annotations

from typing import Any

import pytest

from .programs import printed, run_text

pytest.importorskip("transformers")
pytest.importorskip("dill")

SCRIPT = """
import dataclasses, inspect, json
from dataclasses import dataclass
import dill
import patchkit
from transformers import TrainingArguments

@dataclass
class Before(TrainingArguments):
    mine: int = 1
    learning_rate: float = 1e-3

def attempt(kind):
    try:
        return kind("o", evaluation_strategy="no", use_cpu=True).eval_strategy.value
    except Exception as error:
        return str(error)

def state():
    return [id(vars(Before)["__init__"]), id(Before.__init__.__code__), str(inspect.signature(Before)),
            sorted(vars(Before)), id(dataclasses._process_class)]

before = state()
patchkit.apply(only=[], legacy="trl==0.11.4, transformers==4.44.2")

@dataclass
class Within(TrainingArguments):
    mine: int = 2

@dataclass
class Unrelated:
    mine: int = 3

inside = [attempt(Before), attempt(Within)]
defaults = [Before("o", use_cpu=True).learning_rate, Within("o", use_cpu=True, mine=5).optim.value]
same_code = before[1:4] == state()[1:4]
copied = dill.loads(dill.dumps(Before))
pickled = [copied is not Before, type(vars(copied)["__init__"]).__name__]
unrelated = type(vars(Unrelated)["__init__"]).__name__
patchkit.revert()
print(json.dumps({
    "inside": inside,
    "defaults": defaults,
    "same code": same_code,
    "pickled": pickled,
    "unrelated": unrelated,
    "given back": before == state(),
    "within": type(vars(Within)["__init__"]).__name__,
    "after": [attempt(Before), attempt(Within)],
}))
"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("derived")
    found: dict[str, Any] = printed(run_text(SCRIPT, folder=folder))
    return found


def test_old_keywords_whenever_the_class_was_made(answer: dict[str, Any]) -> None:
    assert answer["inside"] == ["no", "no"]


def test_a_default_of_the_script_s_own_stays(answer: dict[str, Any]) -> None:
    assert answer["defaults"] == [1e-3, "adamw_torch"]


def test_the_constructor_runs_the_same_code(answer: dict[str, Any]) -> None:
    assert answer["same code"]
    assert answer["unrelated"] == "function"


def test_a_class_that_is_pickled_by_value_is_plain(answer: dict[str, Any]) -> None:
    assert answer["pickled"] == [True, "function"]


def test_everything_is_given_back(answer: dict[str, Any]) -> None:
    assert answer["given back"]
    assert answer["within"] == "function"
    assert all("'evaluation_strategy'" in error for error in answer["after"])
