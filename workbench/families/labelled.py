"""Make batches for heads that answer about a whole image, sound or video, or point into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .images import Batch, parameters, pixels, size, with_images
from .sizes import FIRST_WORD, VOCABULARY
from .sounds import sounds

_WORDS = 12
Inputs = Iterator[tuple[str, Batch]]


def _images(model: Any, rows: int) -> Inputs:
    for batch in pixels(model, rows):
        yield "image", batch | _classes(rows)


def _sounds(model: Any, rows: int) -> Inputs:
    for batch in sounds(model, rows):
        yield "sound", batch | _classes(rows)


def _videos(model: Any, rows: int) -> Inputs:
    import torch

    wanted = parameters(model.forward)
    name = next(name for name in ("pixel_values", "pixel_values_videos") if name in wanted)
    own = getattr(model.config, "num_frames", 0) or getattr(model.config, "frames_per_clip", 0)
    for frames in (own, 2, 8):
        if frames:
            image = torch.randn(rows, 1, 3, *size(model))
            yield "video", {name: image.repeat(1, frames, 1, 1, 1)} | _classes(rows)


def _choices(model: Any, rows: int) -> Inputs:
    words = _words(model, 2 * rows).view(rows, 2, -1)
    yield "text", {"input_ids": words} | _classes(rows)


def _sentences(model: Any, rows: int) -> Inputs:
    yield "text", {"input_ids": _words(model, rows)} | _classes(rows)


def _pairs(model: Any, rows: int) -> Inputs:
    for batch in with_images(model, _words(model, rows)):
        yield "image and text", batch | {"return_loss": True}


def _places(model: Any, rows: int) -> Inputs:
    """Give each pixel a class."""
    import torch

    for batch in pixels(model, rows):
        high, wide = _sides(batch)
        labels = torch.arange(high * wide).view(1, high, wide).expand(rows, -1, -1) % 2
        yield "image", batch | {"labels": labels.contiguous()}


def _boxes(model: Any, rows: int) -> Inputs:
    """Give each image two boxes with things of two classes."""
    import torch

    for batch in pixels(model, rows):
        yield (
            "image",
            batch
            | {
                "labels": [
                    {
                        "class_labels": torch.tensor([0, 1]),
                        "boxes": torch.tensor([[0.5, 0.5, 0.4, 0.4], [0.3, 0.3, 0.2, 0.2]]),
                        "masks": _halves(*_sides(batch)),
                    }
                    for _ in range(rows)
                ]
            },
        )


def _segments(model: Any, rows: int) -> Inputs:
    """Give each image two halves of two classes."""
    import torch

    wanted = parameters(model.forward)
    for _, batch in _boxes(model, rows):
        if "mask_labels" not in wanted:
            yield "image", batch
            continue
        del batch["labels"]
        masks = _halves(*_sides(batch))
        words = {"task_inputs": _words(model, rows)}
        if "text_inputs" in wanted:  # a text for each query that has one
            texts = model.config.num_queries - model.config.text_encoder_n_ctx
            words["text_inputs"] = _words(model, rows)[:, None].repeat(1, texts, 1)
        yield (
            "image",
            batch
            | {name: words[name] for name in wanted & set(words)}
            | {"mask_labels": [masks] * rows, "class_labels": [torch.tensor([0, 1])] * rows},
        )


def _hidden(model: Any, rows: int) -> Inputs:
    """Hide every other patch."""
    import torch

    for batch in pixels(model, rows):
        high, wide = _sides(batch)
        patch = int(model.config.patch_size)
        for side in (patch, 4 * patch):
            number = high * wide // side**2
            hidden = torch.arange(number).expand(rows, -1) % 2 == 0
            yield "image", batch | {"bool_masked_pos": hidden}


def _words(model: Any, rows: int) -> Any:
    import torch

    words = torch.randint(FIRST_WORD, VOCABULARY, (rows, _WORDS))
    end = getattr(model.config.get_text_config(), "eos_token_id", None)
    if isinstance(end, int):
        words[:, -1] = end  # some read the last of these
    return words


def _classes(rows: int) -> Batch:
    import torch

    return {"labels": torch.arange(rows) % 2}


def _sides(batch: Batch) -> tuple[int, int]:
    high, wide = batch["pixel_values"].shape[-2:]
    return high, wide


def _halves(high: int, wide: int) -> Any:
    import torch

    masks = torch.zeros(2, high, wide)
    masks[0, : high // 2] = 1
    masks[1, high // 2 :] = 1
    return masks


OTHERS: dict[str, Callable[[Any, int], Inputs]] = {
    "images": _images,
    "audio": _sounds,
    "video": _videos,
    "choice": _choices,
    "sentences": _sentences,
    "pairs": _pairs,
    "segmentation": _places,
    "segments": _segments,
    "detection": _boxes,
    "pictures": _hidden,
}
