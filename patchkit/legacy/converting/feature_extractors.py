"""Feature extractors of models for images, which are image processors today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..changes import Behaviour
from .call import OldCall

_UNRECOGNIZED = "Unrecognized feature extractor"


def process_images(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load an image processor where a checkpoint has no feature extractor."""
    try:
        return proceed()
    except ValueError as error:
        if not str(error).startswith(_UNRECOGNIZED):
            raise
    from transformers import AutoImageProcessor

    processor = AutoImageProcessor.from_pretrained(**call.arguments, **call.unknown)
    call.fix(row, f"{call.name} of a model for images", "write AutoImageProcessor.from_pretrained")
    return processor
