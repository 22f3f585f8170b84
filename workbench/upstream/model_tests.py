"""Upstream's common tests of models, for types whose tiny models `families` makes.

Transformers' source distribution has these tests, and the testers of no type. They run by
`python -m workbench upstream workbench/upstream/model_tests.py`, with the unpacked distribution in
`PYTHONPATH` and the types in `UPSTREAM_TYPES`, as `causal:llama masked:bert`.
"""

from __future__ import annotations

import copy
import importlib
import os
import sys
import types
import unittest
from typing import Any

import torch
import transformers

from workbench.families.building import tiny_model
from workbench.families.inputs import prompt
from workbench.families.model_types import TASKS
from workbench.families.shrinking import attempts

TYPES = os.environ.get("UPSTREAM_TYPES", "causal:llama").split()


def _common_tests() -> type[Any]:
    """Import the tests without those of exports and generation, which are not distributed."""
    for module, mixin in (
        ("exporters.test_export", "ExportTesterMixin"),
        ("generation.test_utils", "GenerationTesterMixin"),
    ):
        stub = types.ModuleType(f"tests.{module}")
        setattr(stub, mixin, type(mixin, (), {}))
        sys.modules[stub.__name__] = stub
    found: type[Any] = importlib.import_module("tests.test_modeling_common").ModelTesterMixin
    return found


class Tester:
    """Gives the tests a configuration and inputs, and says what they ask of them."""

    is_training = True

    def __init__(self, task: str, name: str) -> None:
        self.task, self.name = task, name

    def __getattr__(self, name: str) -> Any:
        config, inputs = self.made
        if name == "batch_size":
            return len(next(iter(inputs.values())))
        if name == "seq_length":
            return inputs["input_ids"].shape[1]
        value = getattr(config.get_text_config(), name, None)
        if value is None:
            raise AttributeError(name)
        return value

    @property
    def made(self) -> tuple[Any, dict[str, Any]]:
        if "_made" not in vars(self):
            self._made = self._first()
        return copy.deepcopy(self._made)

    def _first(self) -> tuple[Any, dict[str, Any]]:
        cls = transformers.CONFIG_MAPPING[self.name]
        error: Exception | None = None
        for config in attempts(cls, **TASKS[self.task].fixed):
            try:
                torch.manual_seed(0)
                model, _, batch = tiny_model(self.task, config)
            except Exception as reason:
                error = error or reason
                continue
            self.model_class = type(model)
            return config, prompt(batch)
        raise unittest.SkipTest(f"no tiny model: {error}")

    def prepare_config_and_inputs_for_common(self) -> tuple[Any, dict[str, Any]]:
        return self.made


for _task, _, _name in (entry.partition(":") for entry in TYPES):
    _tester = Tester(_task, _name)
    _config = _tester.made[0]
    _title = f"Test_{_task}_{_name}".replace("-", "_")
    _given: dict[str, Any] = {
        "model_tester": _tester,
        "all_model_classes": (_tester.model_class,),
        "is_encoder_decoder": _config.is_encoder_decoder,
        "__module__": __name__,
    }
    globals()[_title] = type(_title, (_common_tests(), unittest.TestCase), _given)
