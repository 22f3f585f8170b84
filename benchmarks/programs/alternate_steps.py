"""Train in turns with and without patchkit in one process, and print how long each step took."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from training import SETUPS, patched, train

#: The last one is the first again: how far it is off is how far any two can be.
TURNS = ("without", "with", "again")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setup", choices=SETUPS, required=True)
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    chosen = parser.parse_args()
    # The libraries print their logs to stdout.
    with contextlib.redirect_stdout(sys.stderr):
        outcome = _alternate(chosen.setup, chosen.blocks, chosen.steps)
    print("\n" + json.dumps(outcome))


def _alternate(setup: str, blocks: int, steps: int) -> dict[str, Any]:
    import torch

    # A second thread waits busily for the first: that would count as work.
    torch.set_num_threads(1)
    durations_by_turn: dict[str, Any] = {turn: [] for turn in TURNS}
    losses: dict[str, tuple[float, ...]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(setup, 2, folder)
        for block in range(blocks):
            # Each turn comes first, second and third equally often.
            for turn in TURNS[block % 3 :] + TURNS[: block % 3]:
                durations, losses[turn] = _block(setup, steps, folder, patch=turn == "with")
                durations_by_turn[turn].append(durations)
    durations_by_turn["same losses"] = losses["with"] == losses["without"]
    return durations_by_turn


def _block(
    setup: str, steps: int, folder: Path, *, patch: bool
) -> tuple[list[float], tuple[float, ...]]:
    """Return the CPU seconds of each step after the first, and all losses."""
    ends: list[float] = []
    with patched(setup) if patch else contextlib.nullcontext():
        result = train(setup, steps, folder, lambda step, loss: ends.append(time.process_time()))
    durations = [after - before for before, after in itertools.pairwise(ends)]
    return durations, result.losses


if __name__ == "__main__":
    main()
