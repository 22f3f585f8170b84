"""`accelerate launch` with two processes: each rank is patched, and they train together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from patchkit import catalogue
from patchkit.resolution import resolve

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_sft.py"
RESOLUTION = resolve(catalogue.load().entries["trl-adapter-bf16-cast"].patch)


@pytest.mark.skipif(RESOLUTION.verdict is not None, reason=RESOLUTION.reason)
@pytest.mark.parametrize("patched", [False, True])
def test_accelerate_launch(launch, patched: bool) -> None:
    done = launch(
        "accelerate.commands.launch",
        "--cpu",
        "--num_processes=2",
        "--main_process_port={port}",
        str(EXAMPLE),
        env={"PATCHKIT_DISABLE": "" if patched else "all"},
    )
    if not patched:
        assert done.returncode != 0
        assert "not implemented for 'BFloat16'" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-4000:]
    # Two processes write to one pipe: lines may run into each other.
    assert set(re.findall(r"rank (\d): losses", done.stdout)) == {"0", "1"}
    assert done.stdout.count("<patchkit trl/trainer/sft_trainer.py>") == 2
    assert done.stdout.count("trainable ['torch.float32']") == 2
    assert done.stdout.count("trl-adapter-bf16-cast") == 1
