"""Print how many functions a training step calls, with and without patchkit."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import statistics
import sys
import tempfile
from pathlib import Path
from types import FrameType

from training import SETUPS, patched, train


class Counter:
    """A profiler that counts calls, and among them those of patchkit's functions."""

    def __init__(self) -> None:
        self.calls = self.ours = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        self.calls += event in ("call", "c_call")
        self.ours += event == "call" and _is_ours(frame)


def _is_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    # The lab's callback runs in each step, with patches and without.
    return module.startswith("patchkit.") and not module.startswith("patchkit.lab.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setup", choices=SETUPS, required=True)
    parser.add_argument("--steps", type=int, required=True)
    chosen = parser.parse_args()
    # The libraries print their logs to stdout.
    with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(chosen.setup, 2, folder)
        without = _calls_of_a_step(chosen.setup, chosen.steps, folder)
        with patched(chosen.setup):
            within = _calls_of_a_step(chosen.setup, chosen.steps, folder)
    print("\n" + json.dumps({"without": without, "with": within}))


def _calls_of_a_step(setup: str, steps: int, folder: Path) -> dict[str, float]:
    counter = Counter()
    counts: list[tuple[int, int]] = []

    def on_step(step: int, loss: float) -> None:
        counts.append((counter.calls, counter.ours))
        sys.setprofile(None if step == steps else counter)

    train(setup, steps, folder, on_step)
    calls = [after[0] - before[0] for before, after in itertools.pairwise(counts)]
    return {"calls": statistics.median(calls), "ours": counter.ours / len(calls)}


if __name__ == "__main__":
    main()
