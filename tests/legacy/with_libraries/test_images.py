"""Images that processors took; those of torchvision, which tests do without, take fewer today."""

from __future__ import annotations

import pytest

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from patchkit.legacy.converting.adjusting.images import (  # noqa: E402
    is_reversed,
    padded_with_mask,
)


def test_an_array_that_is_read_backwards_is_recognized() -> None:
    image = numpy.zeros((2, 2, 3))
    assert is_reversed((image[:, :, ::-1],), {})
    assert is_reversed((), {"image": image[::-1]})
    assert not is_reversed((image,), {})
    assert not is_reversed((torch.zeros(3),), {})


def test_a_batch_is_filled_up_to_its_largest_image() -> None:
    batch = padded_with_mask(None, [torch.ones(3, 1, 2), torch.ones(3, 2, 1)], "pt")
    assert batch["pixel_values"].shape == (2, 3, 2, 2)
    assert batch["pixel_mask"].tolist() == [[[1, 1], [0, 0]], [[1, 0], [1, 0]]]
    assert batch["pixel_values"][:, 0].tolist() == batch["pixel_mask"].tolist()
    alone = padded_with_mask(None, [torch.ones(3, 1, 1)], return_pixel_mask=False)
    assert list(alone) == ["pixel_values"]
