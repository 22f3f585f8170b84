"""Make images for any model that takes them, with what its forward wants to know of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

GRID = 4
"""Patches on each side of an image that is passed as patches."""
_PATCHES = GRID**2
_SIDE = 32
Batch = dict[str, Any]


def with_images(model: Any, words: Any) -> Iterator[Batch]:
    """Yield words with an image for each row, in each form that the model may take."""
    wanted = parameters(model.forward)
    for form in _FORMS:
        try:
            images = form(model, wanted, len(words))
            if images:
                yield _joined(model, wanted, words, images)
        except Exception:  # this model takes another form
            continue


def pixels(model: Any, rows: int) -> Iterator[Batch]:
    """Yield an image for each row without words."""
    import torch

    wanted = parameters(model.forward)
    if "spatial_shapes" in wanted:
        patches = _rows_of_patches(model, wanted, rows)
        yield {name: patches[name] for name in wanted & set(patches)}
    if "pixel_values" not in wanted:  # the color of each pixel is a word
        yield {"input_ids": torch.randint(model.config.vocab_size, (rows, _PATCHES))}
        return
    for high, wide in (size(model), (_SIDE, _SIDE), (4 * _SIDE, 4 * _SIDE)):
        yield {"pixel_values": torch.randn(rows, _channels(model), high, wide)}


def parameters(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's parameters."""
    return frozenset(inspect.signature(function).parameters)


def _grids(model: Any, wanted: frozenset[str], rows: int, *, flat: bool) -> Batch:
    """Make patches of all images in a row, with the grid that they come from."""
    import torch

    if "image_grid_thw" not in wanted:
        return {}
    side, channels = _patch(model), _channels(model)
    deep = _attribute(model, "temporal_patch_size", _attribute(model, "patch_temporal", 1))
    shape = (channels * deep * side**2,) if flat else (channels, side, side)
    return {
        "pixel_values": torch.randn(rows * _PATCHES, *shape),
        "image_grid_thw": torch.tensor([[1, GRID, GRID]] * rows),
        "image_merge_sizes": torch.full((rows,), 1),
    }


def _flat_grids(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    return _grids(model, wanted, rows, flat=True)


def _square_grids(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    return _grids(model, wanted, rows, flat=False)


def _plain_squares(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make one image for each row, as pixel values alone."""
    found = _squares(model, wanted, rows)
    return {"pixel_values": found["pixel_values"]} if found else {}


def _squares(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make one image for each row."""
    import torch

    if "pixel_values" not in wanted:
        return {}
    high, wide = size(model)
    patch = _patch(model)
    pixels = torch.randn(rows, _channels(model), high, wide)
    return {
        "pixel_values": pixels,
        "high_res_pixel_values": pixels,
        "image_sizes": torch.tensor([[high, wide]] * rows),
        "image_grid_hw": torch.tensor([[high // patch, wide // patch]] * rows),
    }


def _tiles(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make a list of images for each row: two, since some take one and an overview."""
    import torch

    found = _squares(model, wanted, rows)
    if found:
        found["pixel_values"] = found["pixel_values"][:, None].repeat(1, 2, 1, 1, 1)
        found["pixel_attention_mask"] = torch.ones(rows, 2, *size(model), dtype=torch.bool)
    return found


def _tile(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make a list of one image for each row."""
    found = _tiles(model, wanted, rows)
    return {name: value[:, :1] if value.dim() > 2 else value for name, value in found.items()}


def _rows_of_patches(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make the patches of one image for each row, with their places."""
    import torch

    if "pixel_values" not in wanted:
        return {}
    side = _patch(model)
    places = torch.cartesian_prod(torch.arange(GRID), torch.arange(GRID))
    return {
        "pixel_values": torch.randn(rows, _PATCHES, _channels(model) * side**2),
        "pixel_attention_mask": torch.ones(rows, _PATCHES, dtype=torch.long),
        "spatial_shapes": torch.tensor([[GRID, GRID]] * rows),
        "image_position_ids": places.expand(rows, -1, -1),
    }


def _strips(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make strips of patches, with the grid of each."""
    import torch

    if "target_sizes" not in wanted:
        return {}
    side = _patch(model)
    return {
        "pixel_values": torch.randn(1, _channels(model), side, rows * _PATCHES * side),
        "target_sizes": torch.tensor([[GRID, GRID]] * rows),
    }


def _numbered_patches(model: Any, wanted: frozenset[str], rows: int) -> Batch:
    """Make patches that begin with their row and column."""
    import torch

    if "flattened_patches" not in wanted:
        return {}
    numbers = _channels(model) * _patch(model) ** 2
    places = torch.cartesian_prod(torch.arange(GRID), torch.arange(GRID)) + 1
    patches = torch.randn(rows, _PATCHES, numbers)
    return {"flattened_patches": torch.cat([places.expand(rows, -1, -1), patches], dim=-1)}


_FORMS: tuple[Callable[[Any, frozenset[str], int], Batch], ...] = (
    _strips,
    _flat_grids,
    _square_grids,
    _plain_squares,
    _squares,
    _tile,
    _tiles,
    _rows_of_patches,
    _numbered_patches,
)


def _joined(model: Any, wanted: frozenset[str], words: Any, images: Batch) -> Batch:
    """Make room for images among words."""
    import torch

    ids, places = words, None
    token = _image_token(model)
    if token is not None:
        count = _places(model, images, len(words))
        image = torch.full((len(words), count), token)
        ids = torch.cat([words[:, :2], image, words[:, 2:]], dim=1)
        places = (ids == token).long()
    found = {"input_ids": ids, **{name: images[name] for name in wanted & set(images)}}
    if places is not None:
        found |= dict.fromkeys(wanted & {"mm_token_type_ids", "token_type_ids"}, places)
    if "qformer_input_ids" in wanted:
        found["qformer_input_ids"] = words
    if "image_attention_mask" in wanted:
        found["image_attention_mask"] = torch.ones(*ids.shape, 1, dtype=torch.long)
    if "image_embeds_position_mask" in wanted:
        mask = torch.zeros_like(ids)
        mask[:, : model.config.latent_query_num] = 1
        found["image_embeds_position_mask"] = mask
    return found


def _places(model: Any, images: Batch, rows: int) -> int:
    """Return how many places among the words of a row its image takes."""
    import torch

    take = getattr(model, "get_image_features", None) or model.model.get_image_features
    known = {**images, "qformer_input_ids": torch.zeros(rows, 1, dtype=torch.long)}
    wanted = parameters(take)
    with torch.no_grad():
        return count_places(take(**{name: known[name] for name in wanted & set(known)}), rows)


def count_places(features: Any, rows: int) -> int:
    """Return how many places the features of images or sounds take in a row."""
    import torch

    if getattr(features, "pooler_output", None) is not None:
        features = features.pooler_output
    if isinstance(features, (list, tuple)):
        features = torch.cat([part.reshape(-1, part.shape[-1]) for part in features])
    return int(features[..., 0].numel()) // rows


def _image_token(model: Any) -> int | None:
    """Return the token that stands for an image; None if the model needs none."""
    for name in ("image_token_id", "image_token_index", "image_patch_id"):
        token = getattr(model.config, name, None)
        if token is not None:
            return int(token)
    return None


def size(model: Any) -> tuple[int, int]:
    """Return the height and width of a model's images."""
    size = _attribute(model, "image_size", _attribute(model, "crop_size", _SIDE))
    high, wide = size if isinstance(size, (list, tuple)) else (size, size)
    return int(high), int(wide)


def _channels(model: Any) -> int:
    return int(_attribute(model, "in_channels", 0) or _attribute(model, "num_channels", 3))


def _attribute(model: Any, name: str, otherwise: Any) -> Any:
    """Return what a configuration says of its images."""
    config = model.config
    for part in ("vision_config", "encoder", "vlm_config", None):
        value = getattr(getattr(config, part, None) if part else config, name, None)
        if value is not None:
            return value
    return otherwise


def _patch(model: Any) -> int:
    """Return the length of a side of a patch."""
    side = _attribute(model, "patch_size", 8)
    return int(side[0] if isinstance(side, (list, tuple)) else side)
