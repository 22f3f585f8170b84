"""Boxes and masks are compared in any dtypes, and come to the same where they did before."""

from __future__ import annotations

import itertools

import pytest
import torch

from patchkit.catalogue import entries as catalogue
from patchkit.lab import cuda_fp16

from ..due import only_if_due
from ..snippets import distance, made, numbers

ID = "transformers-detection-dtype"
PATCH = catalogue.load().entries[ID].patch
pytestmark = [only_if_due(ID), pytest.mark.filterwarnings("ignore")]
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
ROUNDING = 0.05
CLASSES = "torch.tensor([[0, 1, 1], [1, 0, 1]])"
WEIGHTS = "__import__('types').SimpleNamespace(empty_weight=labels[0])"
SNIPPETS = {
    "boxes": ("return torch.cdist(inputs, labels, p=1)", (2, 4), (3, 4)),
    "masks": (
        "return torch.matmul(inputs, labels.T) + torch.matmul(inputs, (1 - labels).T)",
        (2, 8),
        (3, 8),
    ),
    "weights": (
        f"self = {WEIGHTS}; return torch.nn.functional.cross_entropy("
        f"inputs.transpose(1, 2), {CLASSES}, self.empty_weight)",
        (2, 3, 2),
        (1, 2),
    ),
    "weights of a module": (
        f"self = {WEIGHTS}; x = inputs.transpose(1, 2); classes = {CLASSES}; "
        "criterion = torch.nn.CrossEntropyLoss(weight=self.empty_weight); "
        "return criterion(x, classes)",
        (2, 3, 2),
        (1, 2),
    ),
    "assignment": (
        "linear_sum_assignment = lambda costs: torch.from_numpy(costs.numpy().astype(float)); "
        "return linear_sum_assignment(inputs.cpu()) + labels.new_zeros(())",
        (2, 3),
        (1,),
    ),
    "queries": (
        "hidden_states = inputs; "
        "self = __import__('types').SimpleNamespace(query_pos_head=lambda x: torch.addmm(x, x, x)); "
        "return torch.mm(self.query_pos_head(labels), hidden_states)",
        (3, 3),
        (3, 3),
    ),
    "noise": (
        "denoising_bbox_unact, reference_points_unact = labels, inputs; "
        "boxes = torch.concat([denoising_bbox_unact, reference_points_unact], 1); "
        "return torch.matmul(boxes, reference_points_unact.transpose(1, 2))",
        (1, 2, 4),
        (1, 2, 4),
    ),
    "texts": (
        "image_queries, text_queries = inputs, labels; "
        "return torch.matmul(text_queries, image_queries.t())",
        (3, 4),
        (3, 4),
    ),
    "points": (
        "return torch.nn.functional.grid_sample(inputs, 2.0 * labels - 1.0, align_corners=False)",
        (1, 2, 4, 4),
        (1, 3, 3, 2),
    ),
}
WAYS = {"plain": None, "fp16": torch.float16, "bf16": torch.bfloat16}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SNIPPETS)
def test_any_dtypes_come_near_to_float32_and_to_the_same_where_they_did(
    name: str, way: str
) -> None:
    body, *shapes = SNIPPETS[name]
    upstream, fixed = made(PATCH, "(inputs, labels)", body)
    given = [numbers(*shape).abs() for shape in shapes]
    exact = upstream(*given)
    raised = 0
    for dtypes in itertools.product(FLOATS, FLOATS):
        cast = [value.to(dtype) for value, dtype in zip(given, dtypes, strict=True)]
        with cuda_fp16.cuda_fp16_on_cpu(), torch.autocast("cpu", WAYS[way], enabled=way != "plain"):
            try:
                before = upstream(*cast)
            except (RuntimeError, NotImplementedError, TypeError):
                if way != "plain":
                    continue
                raised += 1
                found = fixed(*cast)
            else:
                found = fixed(*cast)
                assert found.dtype == before.dtype
                assert torch.equal(found, before)
        assert distance(found, exact) < ROUNDING, dtypes
    assert bool(raised) is (way == "plain")
