"""Make a batch for any model: words, and an image or sound where a model takes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .images import Batch, parameters, with_images
from .labelled import OTHERS
from .model_types import TASKS
from .sizes import FIRST_WORD, VOCABULARY
from .sounds import sounds, with_sounds

_ROWS = 2
_WORDS = 12
IMAGES = "image and text"
_ANSWERS = frozenset(
    {*("labels", "start_positions", "end_positions", "mask_labels", "class_labels"), "return_loss"}
)


def batches(task: str, model: Any) -> Iterator[tuple[str, Batch]]:
    """Yield what a model may be fed, the fullest first, with its description."""
    import torch

    if task in OTHERS:
        yield from OTHERS[task](model, _ROWS)
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
    if task in {"classification", "reward", "questions"} and isinstance(end, int):
        words[:, -1] = end  # some read the last of these
    yield "text", _labelled(task, model, {"input_ids": words})
    if "bbox" in parameters(model.forward):
        yield "text and boxes", _labelled(task, model, {"input_ids": words} | _boxes(words))
    separator = getattr(model.config, "sep_token_id", None)
    if task == "questions" and isinstance(separator, int):  # some find the question by these
        separated = words.clone()
        separated[:, [3, 4, -1]] = separator
        yield "text", _labelled(task, model, {"input_ids": separated})
    if task == "causal":
        for batch in with_images(model, words):
            yield IMAGES, _labelled(task, model, batch)


def for_prediction(task: str, batch: Batch) -> Batch:
    """Return what logits are computed of; a decoder takes its words from the labels."""
    return batch if TASKS[task].labelled else prompt(batch)


def prompt(batch: Batch) -> Batch:
    """Return a batch without what is to be predicted."""
    return {name: value for name, value in batch.items() if name not in _ANSWERS}


def beginning(model: Any, batch: Batch) -> Batch:
    """Return what generation begins with: a word, where each later one belongs to some sound."""
    given = prompt(batch)
    spoken = {"input_ids", "input_features"} <= set(given)
    if spoken and getattr(model.config, "audio_token_id", None) is None:
        given |= {name: given[name][:, :1] for name in ("input_ids", "attention_mask")}
    return given


def logits_of(task: str, output: Any) -> Any:
    """Return what is compared of a model's output."""
    return getattr(output, TASKS[task].logits)


def _labelled(task: str, model: Any, batch: Batch) -> Batch:
    import torch

    words = batch["input_ids"]
    batch["attention_mask"] = torch.ones_like(words)
    if task == "classification":
        batch["labels"] = torch.arange(_ROWS) % 2
    elif task == "reward":
        batch["labels"] = torch.arange(_ROWS).float()
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


def _boxes(words: Any) -> Batch:
    """Return a place on the page for each word."""
    import torch

    return {"bbox": torch.zeros(*words.shape, 4, dtype=torch.long)}


def _complete(model: Any, batch: Batch, wanted: frozenset[str]) -> None:
    """Add what some models of images and text take beside them."""
    import torch

    if model.config.is_encoder_decoder:
        batch["labels"] = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, _WORDS))
        batch["decoder_input_ids"] = batch["labels"].roll(1, dims=1)
    if "bbox" in wanted:
        batch |= _boxes(batch["input_ids"])
    for name in {"input_ids", "attention_mask"} - wanted:
        del batch[name]
