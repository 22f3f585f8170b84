"""The eras: a set of versions each, and the scripts that were written for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from .. import ROOT

SETS = ROOT / "version_sets"
SCRIPTS = ROOT / "tests" / "legacy" / "scripts"
NEWEST = "1.16"
ERAS = ("0.7", "0.9", "0.11", "0.13", "0.16", "0.19", "0.24", "0.29", "1.3")
"""The series of TRL that scripts were written for, oldest first."""
BESIDE = SETS / "eras" / "beside.txt"
"""What scripts use beside the libraries that patchkit knows."""
KINDS = (".py", ".sh", ".ipynb")


@dataclass(frozen=True)
class EraScript:
    """A script to run.

    Args:
        era: the series of TRL that it was written for.
        path: of the script, or of the shell line or notebook that runs it.
    """

    era: str
    path: Path

    @property
    def name(self) -> str:
        return f"{self.era}/{self.path.name}"

    @property
    def digest(self) -> str:
        """Return what changes with the script: its files all begin with its name."""
        files = sorted(self.path.parent.glob(f"{self.path.stem}*"))
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def requirements(era: str) -> Path:
    """Return the requirement file of an era."""
    own = SETS / "eras" / f"{era}.txt"
    return own if own.exists() else SETS / f"{era}.txt"


def scripts(folder: Path = SCRIPTS) -> list[EraScript]:
    """Return all scripts, in the order of their eras.

    A Python file that a shell line of the same name runs is no script of its own.
    """
    found = []
    for era in ERAS:
        paths = sorted(path for path in (folder / era).glob("*") if path.suffix in KINDS)
        lines = {path.stem for path in paths if path.suffix == ".sh"}
        found += [
            EraScript(era, path) for path in paths if path.suffix != ".py" or path.stem not in lines
        ]
    return found


def gone_for_good(folder: Path = SCRIPTS) -> dict[str, str]:
    """Return the scripts that use what no release has any more, and what that is."""
    file = folder / "gone_for_good.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("#")[0].split(None, 1) for line in lines)
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}
