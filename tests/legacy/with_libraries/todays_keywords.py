"""Try the current keywords on older libraries, and print the results as JSON.

python todays_keywords.py off|on
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from patchkit.legacy.changes import Keyword
from patchkit.legacy.rows import all_rows
from patchkit.legacy.versions.due import Due

NEEDED = {
    "use_cpu": True,
    "bf16": False,
    "report_to": "none",
    "output_dir": "out",
    "dataset_name": "rows",
}
GIVEN = {"max_length": 64, "log_unique_prompts": True, "beta": 0.1, "epsilon": 0.1}
"""Values; other keywords are tried with None."""


def calls() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield each call: what it is, the keyword, and a function that makes it."""
    for row in Due(all_rows()).of(Keyword):
        for owner in row.owners:
            library, _, name = owner.partition(".")
            made = getattr(importlib.import_module(library), name, None)
            if row.early and isinstance(made, type) and name.endswith(("Config", "Arguments")):
                known = inspect.signature(made).parameters
                # Some came later than what they do; RLOOConfig had `run_name` beside `exp_name`.
                if row.action.to in known and row.name not in known:
                    yield f"{owner}({row.name}=)", row.name, configured(made, row.name)
    yield "from_pretrained(dtype=)", "dtype", loaded


def configured(made: type, keyword: str) -> Callable[[], Any]:
    known = inspect.signature(made).parameters
    needed = {name: value for name, value in NEEDED.items() if name in known}
    return lambda: made(**needed, **{keyword: GIVEN.get(keyword)})


def loaded() -> None:
    """Load a model in the dtype of the current keyword."""
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=32,
    )
    with tempfile.TemporaryDirectory() as folder:
        LlamaForCausalLM(config).save_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    assert model.dtype == torch.bfloat16


def main(on: bool) -> dict[str, tuple[str, str]]:
    if on:
        import patchkit

        patchkit.apply(only=[], legacy=True)
    became = {}
    for what, keyword, call in calls():
        try:
            call()
        except Exception as error:
            became[what] = keyword, f"{type(error).__name__}: {error}"
        else:
            became[what] = keyword, "taken"
    return became


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1] == "on")))
