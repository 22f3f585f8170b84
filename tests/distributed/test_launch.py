"""Two ranks, each of them patched, train together; test_run.py has two that crash without."""

from __future__ import annotations

import re
from pathlib import Path

from ..patches.due import only_if_due

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_sft.py"
pytestmark = only_if_due("trl-adapter-bf16-cast")


def test_two_ranks_train_with(two_ranks) -> None:
    done = two_ranks(str(EXAMPLE))
    assert done.returncode == 0, done.stderr[-4000:]
    # Two processes write to one pipe: lines may run into each other.
    assert set(re.findall(r"rank (\d) of 2: losses", done.stdout)) == {"0", "1"}
    assert done.stdout.count("<patchkit>/trl/trainer/sft_trainer.py") == 2
    assert done.stdout.count("trainable ['torch.float32']") == 2
    assert done.stdout.count("trl-adapter-bf16-cast") == 1
