"""4-bit models on a CPU: prepared as on a GPU by the trainers that ask where the weights lie."""

from __future__ import annotations

import pytest
from packaging.version import Version

from patchkit.environment import installed_version

from ..due import only_if_due

ID = "trl-cpu-qlora-not-sharded"
# Without which TRL makes the adapters bfloat16 in a bf16 run, on a GPU too.
CAST = "trl-peft-helper-bf16-cast"
# A model that is prepared has float32 norms, and generates without autocast.
GENERATING = ("transformers-norm-output-dtype", "transformers-lm-head-dtype")

pytestmark = only_if_due(ID)

TRAIN = """
    import tempfile
    from pathlib import Path
    import patchkit
    {apply}
    from patchkit.lab import cuda_fp16, tiny, train
    tiny.go_offline()
    cuda_fp16.install()
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = train.train(
                "online_dpo", precision={precision!r}, quantization="4bit", steps=2,
                folder=Path(folder),
            )
            result = [sorted(done.trainable_dtypes), sorted(done.trainable_dtypes_after)]
        except ValueError as error:
            result = str(error)
"""
FLOAT32, BFLOAT16 = ([[dtype], [dtype]] for dtype in ("float32", "bfloat16"))


@pytest.mark.skipif(
    Version(installed_version("trl") or "0") < Version("1.6"),
    reason="Online DPO was looked at from TRL 1.6 on",
)
@pytest.mark.parametrize(
    ("precision", "without", "patched"),
    [("fp16", "Attempting to unscale FP16 gradients.", FLOAT32), ("bf16", BFLOAT16, FLOAT32)],
)
def test_online_dpo(forked, precision: str, without: object, patched: object) -> None:
    apply = f"patchkit.apply(only={[ID, CAST, *GENERATING]}, strict=True)"
    assert forked(TRAIN.format(apply="", precision=precision)) == without
    assert forked(TRAIN.format(apply=apply, precision=precision)) == patched


PREPARE = """
    import patchkit
    from patchkit.catalogue import entries
    {apply}
    # What the reproducer says, and whether the model was prepared.
    patch = entries.load().entries["{id}"]
    try:
        patch.reproduce()
        result = "float32"
    except AssertionError as error:
        result = str(error)
"""
HALF = "adapters of a 4-bit model on a CPU are float16"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "float32"),
        # There upstream is right: the weights are about to be sharded.
        ({"ACCELERATE_USE_FSDP": "true"}, HALF),
        ({"ACCELERATE_USE_DEEPSPEED": "true"}, HALF),
    ],
)
def test_who_shards(forked, env: dict[str, str], expected: str) -> None:
    apply = f"patchkit.apply(only='{ID}', strict=True)"
    assert forked(PREPARE.format(apply=apply, id=ID), env=env) == expected
    assert forked(PREPARE.format(apply="", id=ID), env=env) == HALF


def test_weights_without_values_are_sharded() -> None:
    import torch

    from patchkit.precision.adapters import may_be_sharded

    assert may_be_sharded(torch.ones(1, device="meta"), None)
    assert not may_be_sharded(torch.ones(1), None)
