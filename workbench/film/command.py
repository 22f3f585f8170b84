"""Make the film of a terminal at the top of the README.

    python -m workbench film --record ENVIRONMENT
    python -m workbench film

The first command runs what the film shows: fp16 QLoRA dies, patchkit is installed, the training
goes through, and so does a script written for TRL 0.11. ENVIRONMENT is a virtual environment with
pip, TRL and all that QLoRA needs; patchkit is installed into it. Without a GPU the training takes
CUDA's fp16 path on the CPU. `docs/film.cast` keeps what was printed, and when (asciicast v2).
Both commands draw it as `docs/film.svg`, with pauses shortened.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .. import ROOT
from . import drawing, recording

DOCS = ROOT / "docs"
CAST, FILM = DOCS / "film.cast", DOCS / "film.svg"
TITLE = (
    "A terminal: fp16 QLoRA dies in its first step; patchkit is installed; under `patchkit run` "
    "the same script trains; a script of 2024 fails, and trains under `patchkit run --legacy`."
)


def main() -> int:
    options = _options()
    if options.record is not None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                recording.record(options.record.absolute(), Path(folder), CAST)
            except recording.FilmError as error:
                print(f"film: {error}", file=sys.stderr)
                return 1
    FILM.write_text(drawing.draw(CAST, TITLE), encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", metavar="ENVIRONMENT", type=Path, help="record it again")
    return parser.parse_args()
