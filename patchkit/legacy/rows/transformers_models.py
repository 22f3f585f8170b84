"""Parts of models for images that are found elsewhere today."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from ..changes import Attribute, Change
from ..sources import notes

_PROJECTED = ("language_model", "vision_tower", "multi_modal_projector")
_PARTS = {
    **dict.fromkeys(("AyaVision", "Gemma3", "Llava", "LlavaNext", "Mistral3"), _PROJECTED),
    **dict.fromkeys(("PaliGemma", "LlavaOnevision", "VipLlava"), _PROJECTED),
    **dict.fromkeys(("Qwen2VL", "Qwen2_5_VL"), ("language_model", "visual")),
}
"""Parts of models for images that are parts of their attribute `model` today."""
_GONE = "transformers 5.0.0"
_SOURCE = notes(_GONE)


def _rows() -> Iterator[Change]:
    for family, parts in _PARTS.items():
        for part in parts:
            yield Attribute(
                owners=(f"transformers.{family}ForConditionalGeneration",),
                name=part,
                read=attrgetter(f"model.{part}"),
                advice=f"write model.{part}",
                written=f"{{object}}.model.{part}",
                gone=_GONE,
                source=_SOURCE,
            )


ROWS: tuple[Change, ...] = tuple(_rows())
