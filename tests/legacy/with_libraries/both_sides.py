"""Run pieces of old scripts on the real libraries, without the legacy layer and with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .programs import forks_of, run_text

PRELUDE = Path(__file__).with_name("prelude.py")

_PROGRAM = """
import contextlib, io, json, pathlib, sys, traceback
if sys.argv[1] == "on":
    import patchkit
    patchkit.apply(only=[], legacy=True)
prelude = pathlib.Path(sys.argv[2]).read_text()
pieces = json.loads(pathlib.Path(sys.argv[3]).read_text())
names = {"__name__": "__main__"}
exec(compile(prelude, "prelude.py", "exec"), names)
outcomes, seen = {}, {}
pathlib.Path("pieces").mkdir()
for name, piece in pieces.items():
    mine = dict(names)
    file = pathlib.Path("pieces", name + ".py")
    file.write_text(piece)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            exec(compile(piece, str(file), "exec"), mine)
        outcomes[name] = mine.get("result")
    except BaseException as error:
        outcomes[name] = "{}: {}".format(type(error).__name__, error)
        seen[name] = said.getvalue() + traceback.format_exc()
    sys.stderr.write(said.getvalue())
told = []
if sys.argv[1] == "on":
    from patchkit.legacy.layer import LAYER
    told = [str(use) for use in LAYER.uses()]
pathlib.Path("outcomes.json").write_text(json.dumps([outcomes, told, seen], default=str))
"""


@dataclass(frozen=True)
class Side:
    """What came of the pieces on one side.

    Args:
        outcomes: by the name of the piece: what it gave `result`, or the error.
        told: the lines that the layer told.
        seen: by the name of the piece: what its user saw of an error, with the traceback.
    """

    outcomes: dict[str, Any]
    told: list[str]
    seen: dict[str, str]

    def lines(self, piece: str) -> str:
        """Return what was told of a piece."""
        return "\n".join(line for line in self.told if line.startswith(f"{piece}.py:"))


def run(pieces: Mapping[str, str], folder: Path) -> tuple[Side, Side]:
    """Return both sides: without the layer, and with it."""
    return _side("off", pieces, folder / "off"), _side("on", pieces, folder / "on")


def run_without(pieces: Mapping[str, str], folder: Path) -> Side:
    """Return the side without the layer."""
    return _side("off", pieces, folder)


def _side(name: str, pieces: Mapping[str, str], folder: Path) -> Side:
    folder.mkdir()
    file = folder / "pieces.json"
    file.write_text(json.dumps(pieces))
    arguments = (name, str(PRELUDE), str(file))
    done = run_text(_PROGRAM, *arguments, folder=folder, forks=forks_of(name))
    assert done.returncode == 0, done.stderr[-4000:]
    return Side(*json.loads((folder / "outcomes.json").read_text()))
