"""Make a batch for any model: words, and an image where a model takes one."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from .shrinking import FIRST_WORD, VOCABULARY

_ROWS = 2
_WORDS = 12
_GRID = 4
"""Patches on each side of an image that is passed as patches."""
Batch = dict[str, Any]


def batches(task: str, model: Any) -> Iterator[tuple[str, Batch]]:
    """Yield what a model may be fed, the fullest first, with its description."""
    import torch

    words = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, _WORDS))
    if task == "vision" and "pixel_values" in inspect.signature(model.forward).parameters:
        for image in (_patches, _square):
            try:
                yield "image and text", _labelled(task, image(model, words))
            except Exception:  # this model takes another kind of image
                continue
    end = getattr(model.config, "eos_token_id", None)
    if task == "classification" and isinstance(end, int):
        words[:, -1] = end  # some read the last of these
    yield "text", _labelled(task, {"input_ids": words})


def for_prediction(task: str, batch: Batch) -> Batch:
    """Return what logits are computed of; a decoder takes its words from the labels."""
    return batch if task == "seq2seq" else prompt(batch)


def prompt(batch: Batch) -> Batch:
    """Return what generation begins with."""
    return {name: value for name, value in batch.items() if name != "labels"}


def _labelled(task: str, batch: Batch) -> Batch:
    import torch

    words = batch["input_ids"]
    batch["attention_mask"] = torch.ones_like(words)
    if task == "classification":
        batch["labels"] = torch.arange(_ROWS) % 2
    elif task == "seq2seq":
        batch["labels"] = torch.randint(FIRST_WORD, VOCABULARY, (_ROWS, _WORDS))
    else:
        batch["labels"] = words.where(words >= FIRST_WORD, -100)
    return batch


def _square(model: Any, words: Any) -> Batch:
    """Make one square image for each row, and room for what the model makes of it."""
    import torch

    size = model.config.vision_config.image_size
    high, wide = size if isinstance(size, (list, tuple)) else (size, size)
    pixels = torch.randn(_ROWS, 3, high, wide)
    with torch.no_grad():
        features = _tensor(model.get_image_features(pixel_values=pixels))
    width = features.shape[-1]
    places = features.numel() // width // _ROWS
    return {"input_ids": _with_places(model, words, places), "pixel_values": pixels}


def _patches(model: Any, words: Any) -> Batch:
    """Make images as rows of patches, with the grid that they come from."""
    import torch

    if "image_grid_thw" not in inspect.signature(model.forward).parameters:
        raise LookupError("the model takes no patches")
    vision = model.config.vision_config
    channels = getattr(vision, "in_channels", None) or getattr(vision, "num_channels", 3)
    numbers = channels * vision.temporal_patch_size * vision.patch_size**2
    places = _GRID**2 // vision.spatial_merge_size**2
    ids = _with_places(model, words, places)
    batch = {
        "input_ids": ids,
        "pixel_values": torch.randn(_ROWS * _GRID**2, numbers),
        "image_grid_thw": torch.tensor([[1, _GRID, _GRID]] * _ROWS),
    }
    if "mm_token_type_ids" in inspect.signature(model.forward).parameters:
        batch["mm_token_type_ids"] = (ids == _image_token(model)).long()
    return batch


def _with_places(model: Any, words: Any, places: int) -> Any:
    import torch

    image = torch.full((len(words), places), _image_token(model))
    return torch.cat([words[:, :2], image, words[:, 2:]], dim=1)


def _image_token(model: Any) -> int:
    config = model.config
    for name in ("image_token_id", "image_token_index"):
        token = getattr(config, name, None)
        if token is not None:
            assert isinstance(token, int)
            return token
    raise LookupError("the model has no token for images")


def _tensor(features: Any) -> Any:
    """Return the tensor in what a model calls its features of an image."""
    import torch

    if hasattr(features, "pooler_output") and features.pooler_output is not None:
        features = features.pooler_output
    if isinstance(features, (list, tuple)):
        return torch.cat([part.reshape(-1, part.shape[-1]) for part in features])
    return features
