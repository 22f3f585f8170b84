"""Tasks that `transformers.pipeline` no longer has."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_DEFAULT = {
    "summarization": "sshleifer/distilbart-cnn-12-6",
    "text2text-generation": "google-t5/t5-base",
    "translation": "google-t5/t5-base",
}
"""Tasks of models with an encoder, and their default models."""
_CURRENT = "text-generation"
_WRITTEN = "patchkit.legacy.replacements.pipelines"


def generate_from_texts(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Make a pipeline for a task of models with an encoder."""
    task = call.arguments.get("task")
    default = _DEFAULT.get("translation" if str(task).startswith("translation_") else str(task))
    if default is None or call.arguments.get("pipeline_class") is not None:
        return proceed()
    written = importlib.import_module(_WRITTEN)
    given = call.arguments
    model = given.get("model") or default
    if isinstance(model, str):
        given["model"], given["tokenizer"] = written.loaded(model, given)
        for name in ("device_map", "model_kwargs"):
            given.pop(name, None)
    given.update(task=_CURRENT, pipeline_class=written.TextToText)
    call.fix(row, f"pipeline({task!r})", "call the model's generate()")
    return proceed().for_task(task)
