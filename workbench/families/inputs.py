"""Make a batch for any model: words, and an image or sound where a model takes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .images import Batch, parameters, pixels, with_images
from .model_types import TASKS
from .sizes import FIRST_WORD, VOCABULARY
from .sounds import sounds, with_sounds

_ROWS = 2
_WORDS = 12
IMAGES = "image and text"
_ANSWERS = frozenset({"labels", "start_positions", "end_positions"})


def batches(task: str, model: Any) -> Iterator[tuple[str, Batch]]:
    """Yield what a model may be fed, the fullest first, with its description."""
    import torch

    if task == "images":
        for batch in pixels(model, _ROWS):
            yield "image", batch | {"labels": torch.arange(_ROWS) % 2}
        return
    if task in {"speech", "ctc"}:
        length = _WORDS if task == "speech" else 2  # CTC needs more frames than labels
        for batch in sounds(model, _ROWS):
            labels = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, length))
            yield "sound", batch | {"labels": labels}
    words = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, _WORDS))
    if task in {"speech", "ctc"}:
        for batch in with_sounds(model, words):
            yield "sound and text", _labelled(task, model, batch)
        return
    if task == "vision":
        for batch in with_images(model, words):
            yield IMAGES, _labelled(task, model, batch)
    end = getattr(model.config, "eos_token_id", None)
    if task in {"classification", "questions"} and isinstance(end, int):
        words[:, -1] = end  # some read the last of these
    yield "text", _labelled(task, model, {"input_ids": words})
    if task == "causal":
        for batch in with_images(model, words):
            yield IMAGES, _labelled(task, model, batch)


def for_prediction(task: str, batch: Batch) -> Batch:
    """Return what logits are computed of; a decoder takes its words from the labels."""
    return batch if TASKS[task].labelled else prompt(batch)


def prompt(batch: Batch) -> Batch:
    """Return what generation begins with."""
    return {name: value for name, value in batch.items() if name not in _ANSWERS}


def logits_of(task: str, output: Any) -> Any:
    """Return what is compared of a model's output."""
    return getattr(output, TASKS[task].logits)


def _labelled(task: str, model: Any, batch: Batch) -> Batch:
    import torch

    words = batch["input_ids"]
    batch["attention_mask"] = torch.ones_like(words)
    if task == "classification":
        batch["labels"] = torch.arange(_ROWS) % 2
    elif task == "tokens":
        batch["labels"] = words % 2
    elif task == "questions":
        batch["start_positions"] = torch.arange(_ROWS) + 1
        batch["end_positions"] = torch.arange(_ROWS) + 3
    elif task == "seq2seq":
        batch["labels"] = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, _WORDS))
    else:
        batch["labels"] = words.where(words >= FIRST_WORD, -100)
    if task == "vision":
        _complete(model, batch, parameters(model.forward))
    return batch


def _complete(model: Any, batch: Batch, wanted: frozenset[str]) -> None:
    """Add what some models of images and text take beside them."""
    import torch

    if model.config.is_encoder_decoder:
        batch["labels"] = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, _WORDS))
        batch["decoder_input_ids"] = batch["labels"].roll(1, dims=1)
    if "bbox" in wanted:
        batch["bbox"] = torch.zeros(*batch["input_ids"].shape, 4, dtype=torch.long)
    for name in {"input_ids", "attention_mask"} - wanted:
        del batch[name]
