"""Build a tiny checkpoint of a model type, and what is fed to it, in this process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..sweep.limits import is_lack_of_memory, limit_memory
from ..sweep.trial import one_line
from .images import Batch
from .inputs import IMAGES, batches, for_prediction, logits_of
from .model_types import TASKS, loader, pretrained
from .modes import PRECISIONS
from .odd_types import GENERATION
from .shrinking import USUAL_SPREAD, attempts

INPUTS = "inputs.pt"
CHECKPOINTS = tuple(sorted({precision.checkpoint for precision in PRECISIONS}))
_MOST_PARAMETERS = 30_000_000
_FURTHER = 4
"""Shapes of a model of images and text that are tried after one that takes no images."""


class Unsuitable(Exception):
    """A model that cannot be tried."""


def build(task: str, model_type: str, folder: str, memory: float) -> dict[str, Any]:
    """Save tiny checkpoints of a model type in a folder, and its inputs.

    Args:
        task: the task.
        model_type: the type.
        folder: an empty folder.
        memory: GiB that this process may take in addition to what it has.

    Returns:
        the fields of a `Build`, without the subject.
    """
    limit_memory(memory)
    import torch

    torch.set_num_threads(1)
    try:
        return _build(task, model_type, Path(folder))
    except Exception as error:
        return {"error": one_line(error, memory)}


def _build(task: str, model_type: str, folder: Path) -> dict[str, Any]:
    import transformers

    cls = transformers.CONFIG_MAPPING[model_type]
    first: Exception | None = None
    found: tuple[Any, str, Batch] | None = None
    unloaded: tuple[Any, str, Batch] | None = None
    further = _FURTHER
    for config in attempts(cls, **TASKS[task].fixed):
        try:
            made = tiny_model(task, config)
            other = _other_when_loaded(task, made[0], folder)
            if other is not None:
                unloaded = unloaded or made
                made = tiny_model(task, other)
        except Exception as error:
            if is_lack_of_memory(error):
                raise
            first = first or error
            continue
        if task != "vision" or made[1] == IMAGES:
            found = made
            break
        found = found or made
        further -= 1  # another shape may take images
        if not further:
            break
    found = found or unloaded
    if not found:
        raise first or Unsuitable("no configuration")
    model, inputs, batch = found
    return _save(task, model, batch, folder) | {"inputs": inputs}


def tiny_model(task: str, config: Any) -> tuple[Any, str, Batch]:
    """Return a model of a configuration, and what it is fed."""
    _complete(config, task)
    model = _model(task, config)
    return (model, *_inputs(task, model))


def _other_when_loaded(task: str, model: Any, folder: Path) -> Any:
    """Return the configuration that is loaded of a saved model that is not loaded with it.

    Some configurations derive sizes from others when they are made, and some do not save what
    equals a general default. None is returned of a model that is loaded again.
    """
    with tempfile.TemporaryDirectory(dir=folder) as saved:
        model.save_pretrained(saved)
        try:
            pretrained(task, Path(saved))
        except Exception:
            return type(model.config).from_pretrained(saved)
        return None


def _complete(config: Any, task: str) -> None:
    """Give a configuration the tokens that released ones have, and its task needs."""
    if task in {"classification", "reward"} or TASKS[task].labelled:
        for owner in {id(part): part for part in (config, config.get_text_config())}.values():
            if getattr(owner, "pad_token_id", None) is None:
                owner.pad_token_id = 0
    classes = loader(task)._model_mapping.get(type(config), None)
    if isinstance(classes, tuple):  # Transformers takes the one that a checkpoint names
        config.architectures = [classes[0].__name__]
    decodes = TASKS[task].labelled or (task == "vision" and config.is_encoder_decoder)
    if decodes and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 0


def _model(task: str, config: Any) -> Any:
    import torch

    with torch.device("meta"):
        size = sum(weight.numel() for weight in loader(task).from_config(config).parameters())
    if size > _MOST_PARAMETERS:
        raise Unsuitable(f"{size / 1e6:.0f} million parameters are the fewest it could be given")
    torch.manual_seed(0)
    model = loader(task).from_config(config).float()
    for weight in model.parameters():
        # Queries that begin as zeros are trained in released models; norms' gradients of zeros
        # are 1/epsilon, beyond float16.
        if weight.dim() > 1 and not weight.any():
            torch.nn.init.normal_(weight, std=USUAL_SPREAD)
    for name, value in GENERATION.get(config.model_type, {}).items():
        # Without this, only names that every model has are loaded again.
        model.generation_config._from_model_config = False
        setattr(model.generation_config, name, value)
    return model


def _inputs(task: str, model: Any) -> tuple[str, Batch]:
    """Return the fullest inputs that the model learns from, and what they are."""
    import torch

    first: Exception | None = None
    for description, batch in batches(task, model):
        try:
            loss = model(**batch).loss
            if loss is None or not torch.isfinite(loss):
                raise Unsuitable(
                    "it computes no loss" if loss is None else "its loss is not finite"
                )
            loss.backward()
            return description, batch
        except Exception as error:
            if first is None or description not in {IMAGES, "sound"}:  # that of the plainest inputs
                first = error
    raise first or Unsuitable("no inputs")


def _save(task: str, model: Any, batch: Batch, folder: Path) -> dict[str, Any]:
    import torch

    model.zero_grad()
    model.eval()
    with torch.no_grad():
        logits = logits_of(task, model(**for_prediction(task, batch)))
    torch.save({"batch": batch, "logits": logits}, folder / INPUTS)
    for dtype in CHECKPOINTS:
        model.to(getattr(torch, dtype)).save_pretrained(folder / dtype)
    return {"parameters": sum(weight.numel() for weight in model.parameters())}
