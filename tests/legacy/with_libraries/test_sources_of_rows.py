"""What the table says to write agrees with the installed libraries."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from typing import Any

import pytest

from patchkit.errors import UsageError
from patchkit.legacy.changes import Adjusted, Order, Parameters
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due
from patchkit.modernize.python.configurations import OF_TRAINING_ARGUMENTS
from patchkit.modernize.reading.kinship import ancestors

TRL = ("trl", *(f"trl.experimental.{name}" for name in ("cpo", "gkd", "online_dpo", "orpo")))
FROM_TRANSFORMERS = """
    AutoConfig AutoModel AutoModelForCausalLM AutoModelForSequenceClassification AutoProcessor AutoTokenizer
    BertForSequenceClassification BertModel BitsAndBytesConfig DataCollatorForLanguageModeling
    DataCollatorWithPadding EarlyStoppingCallback GPT2LMHeadModel GPT2TokenizerFast GenerationConfig
    HfArgumentParser LlamaConfig LlamaForCausalLM LlamaTokenizer PreTrainedModel PreTrainedTokenizer
    PreTrainedTokenizerFast Seq2SeqTrainer Seq2SeqTrainingArguments T5ForConditionalGeneration Trainer
    TrainerCallback TrainingArguments WhisperProcessor
"""
TAKING_ARGUMENTS = ("SFTConfig", "DPOConfig", "RewardConfig")
"""Configurations of trainers that took `TrainingArguments` once."""


def library(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


@pytest.mark.parametrize("name", TAKING_ARGUMENTS)
def test_defaults_of_training_arguments(name: str) -> None:
    general = fields(library("transformers.TrainingArguments"))
    own = fields(library(f"trl.{name}"))
    rows = Due(all_rows()).methods(ancestors(f"trl.{name}"))["__init__"].defaults
    written = {
        field
        for field, value in OF_TRAINING_ARGUMENTS.items()
        if field in rows and rows[field].values[-1][1] != value
    }
    assert {field for field in general if own[field] != general[field]} == written
    general["gradient_checkpointing"] = bool(general["gradient_checkpointing"])
    assert {field: general[field] for field in OF_TRAINING_ARGUMENTS} == OF_TRAINING_ARGUMENTS


def fields(cls: Any) -> dict[str, Any]:
    return {
        known.name: known.default
        for known in dataclasses.fields(cls)
        if known.default_factory is dataclasses.MISSING
    }


@pytest.mark.parametrize("row", [row for row in all_rows() if isinstance(row, Order)])
def test_the_order_of_today(row: Order) -> None:
    (owner,) = row.owners
    try:
        trainer = library(owner)
    except AttributeError:
        trainer = library(owner.replace("trl.", "trl.experimental.online_dpo."))
    assert tuple(inspect.signature(trainer).parameters)[: len(row.today)] == row.today


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in all_rows()
        if isinstance(row, Adjusted) and isinstance(row.in_source, Parameters)
    ],
)
def test_parameters_of_methods(row: Adjusted) -> None:
    assert isinstance(row.in_source, Parameters)
    method = getattr(library(row.owners[0]), row.name)
    new = [name.partition("=")[0] for name in row.in_source.more]
    known = [name for name in inspect.signature(method).parameters if name != "self"]
    if row.in_source.after:  # What is called by keyword may stand anywhere behind the others.
        known = [name for name in known if name not in row.in_source.after]
    assert known[-len(new) :] == new


def test_kinship() -> None:
    """Classes derive from those that are named for them, and from no other that has rows."""
    names = [f"transformers.{name}" for name in FROM_TRANSFORMERS.split()]
    for module in TRL:
        found = vars(importlib.import_module(module)).items()
        lazy = getattr(importlib.import_module(module), "__all__", [name for name, _ in found])
        names += [
            f"{module}.{name}" for name in lazy if name.endswith(("Config", "Trainer", "Parser"))
        ]
    owners = known({owner for row in all_rows() for owner in getattr(row, "owners", ())})
    wrong = {}
    for name in names:
        cls = library(name)
        real = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in cls.__mro__}
        named = set(ancestors(name)[1:])
        # Each trainer has the rows of these two under its own name.
        real -= {ancestors(name)[0], "trl.BaseTrainer", "trl._BaseTrainer"}
        # Some classes have a second name, which older releases knew them by.
        foreign = {other for other in named - real if not issubclass(cls, library(other))}
        if foreign or real & owners - named:
            wrong[name] = foreign, real & owners - named
    assert wrong == {}


def known(owners: set[str]) -> set[str]:
    names = (owner.rpartition(".") for owner in owners)
    return {place if last[:1].islower() else f"{place}.{last}" for place, _, last in names}


def test_a_trainer_that_truncates() -> None:
    from patchkit.legacy.replacements.truncation import truncating

    trainer = library("trl.DPOTrainer")
    made = truncating(trainer, max_prompt_length=3)
    assert issubclass(made, trainer)
    assert made.__name__ == "DPOTrainer"
    assert inspect.signature(made) == inspect.signature(trainer)
    with pytest.raises(UsageError, match="SFTTrainer never truncated prompts in any release"):
        truncating(library("trl.SFTTrainer"), max_prompt_length=3)
