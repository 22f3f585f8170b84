"""Images that processors took, and refuse today."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...call_sites import source_of
from ...changes import Adjusted, Behaviour
from ...uses import called_by_library, calling_frame
from ..call import OldCall, Surroundings

_POOLED = "pooler_output"


def is_reversed(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether an image is an array that is read backwards, as in `image[:, :, ::-1]`."""
    image = kwargs["image"] if "image" in kwargs else next(iter(args), None)
    strides = getattr(image, "strides", ())
    return any(stride < 0 for stride in strides)


def copy_reversed(call: OldCall, row: Adjusted, surroundings: Surroundings) -> None:
    """Copy an array that PyTorch cannot share memory with."""
    call.arguments["image"] = call.arguments["image"].copy()
    call.fix(
        row, "an image that is read backwards, as by [::-1]", "write numpy.ascontiguousarray(…)"
    )


def pad_batch(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Fill the images of a batch up, where a script pads as functions for batches did."""
    given = {**call.arguments, **call.unknown}
    images = given.pop("images", given.pop("image", None))
    if not isinstance(images, list | tuple):
        return proceed()
    call.fix(row, f"{call.name} of a batch", "write torch.nn.functional.pad and a pixel_mask")
    return padded_with_mask(call.instance, images, **given)


def padded_with_mask(
    processor: Any,
    images: Sequence[Any],
    return_tensors: Any = None,
    *,
    constant_values: float = 0,
    return_pixel_mask: bool = True,
    **settings: Any,
) -> Any:
    """Return images of one size, filled up at the bottom and on the right, and their masks."""
    import torch
    from transformers import BatchFeature

    tensors = [torch.as_tensor(image) for image in images]
    height, width = (max(image.shape[side] for image in tensors) for side in (-2, -1))
    margins = [(0, width - image.shape[-1], 0, height - image.shape[-2]) for image in tensors]
    fill = torch.nn.functional.pad
    batch = {
        "pixel_values": [
            fill(image, margin, value=constant_values)
            for image, margin in zip(tensors, margins, strict=True)
        ]
    }
    if return_pixel_mask:
        batch["pixel_mask"] = [
            fill(torch.ones(image.shape[-2:], dtype=torch.int64), margin)
            for image, margin in zip(tensors, margins, strict=True)
        ]
    if return_tensors in (None, "np"):
        batch = {name: [each.numpy() for each in values] for name, values in batch.items()}
    return BatchFeature(batch, tensor_type=return_tensors)


def all_boxes(processor: Any, outputs: Any, target_sizes: Any) -> Any:
    return processor.post_process_object_detection(outputs, 0.0, target_sizes)


def features_alone(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Return the features, unless the script reads them of the output that has them today."""
    result = proceed()
    features = getattr(result, _POOLED, None)
    frame = calling_frame()
    source = None if frame is None else source_of(frame)
    if features is None or called_by_library():
        return result
    if source is not None and any(source.reads(_POOLED)):
        return result
    call.fix(row, f"what {call.name} gives", f"read {_POOLED} of it")
    return features
