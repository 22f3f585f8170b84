"""Write down which of the version sets patchkit recommends: `python -m workbench sets`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from patchkit.legacy.versions.version_sets import FILE

FOLDER = Path(__file__).parents[2] / "version_sets"
_HEAD = "# Made by `python -m workbench sets` from the files in version_sets/.\n"


def recommended(folder: Path = FOLDER) -> Iterator[str]:
    """Yield the sets for scripts that need an older release of TRL, oldest first, without torch.

    These are the files that are named for a release of TRL, and those below `eras/` for releases
    that have no other. The newest is what everybody has.
    """
    from packaging.version import Version

    files = {file.stem: file for part in ("eras", ".") for file in folder.glob(f"{part}/*.txt")}
    numbers = sorted((name for name in files if name.replace(".", "").isdigit()), key=Version)
    for number in numbers[:-1]:
        lines = (line.partition("#")[0].strip() for line in files[number].read_text().splitlines())
        yield " ".join(line for line in lines if line and not line.startswith("torch=="))


def text(folder: Path = FOLDER) -> str:
    """Return what the file has to have."""
    return _HEAD + "".join(f"{pins}\n" for pins in recommended(folder))


@click.command()
def sets() -> None:
    """Write the version sets that patchkit recommends into its package."""
    FILE.write_text(text(), encoding="utf-8")
