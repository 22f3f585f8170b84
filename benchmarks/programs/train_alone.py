"""Train in a process of its own, with or without patchkit, and print the peak of its memory."""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import sys
import tempfile
from pathlib import Path

from training import SETUPS, patched, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setup", choices=SETUPS, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--patched", action="store_true")
    chosen = parser.parse_args()
    # The libraries print their logs to stdout.
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if chosen.patched:
            stack.enter_context(patched(chosen.setup))
        result = train(chosen.setup, chosen.steps, Path(folder))
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("\n" + json.dumps({"peak": kibibytes / 1024, "losses": result.losses}))


if __name__ == "__main__":
    main()
