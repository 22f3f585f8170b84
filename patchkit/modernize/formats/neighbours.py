"""The files beside a text that tell what reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..python import readers
from ..python.readers import Reader
from ..reading.settings_files import text_of
from .launches import launches

_KINDS = (".sh", ".bash", ".slurm", ".sbatch", ".md", ".py")
_ABOVE = 2
"""Folders above that are looked into, too, since trainings are started there."""


class Neighbours:
    """The files beside a text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        folders = list(path.absolute().parents)
        self._folders = folders[: 1 + _ABOVE]

    def script(self, path: str) -> str | None:
        """Return the text of a Python script by its path, as a command names it."""
        for folder in self._folders:
            if (text := text_of(folder / path)) is not None:
                return text
        return None

    def reader(self) -> Reader | None:
        """Return what reads this text as a file of settings; None if no file tells."""
        name = self._path.name
        for folder in self._folders:
            for path in _files(folder):
                text = text_of(path) if path.suffix != ".py" else None
                for started in launches(text, self.script) if text and name in text else ():
                    if Path(started.settings_file).name == name:
                        return started.reader
        paths = [path for path in _files(self._folders[0]) if path.suffix == ".py"]
        scripts = [text for path in paths if (text := text_of(path))]
        if any(name in text and readers.reads_itself(text) for text in scripts):
            return Reader(())  # the keys are the script's own
        found = {
            reader for text in scripts if (reader := readers.of_script(text, self._folders[0]))
        }
        return found.pop() if len(found) == 1 else None


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if path.suffix in _KINDS)
    except OSError:
        return
