"""The Python in scripts: of a notebook, all cells as one text."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from ..errors import ScriptError
from ..files import load
from ..findings import ScriptFinding
from ..formats.magics import cell_magic, held
from ..reading import Script, read
from ..reading.reader import parsed
from .needs import Need
from .silent import ScriptSilentChange

KINDS = (".py", ".ipynb")
"""The endings of the names of scripts that are read."""
_BOM = "\ufeff"
_Placed = TypeVar("_Placed", Need, ScriptSilentChange, ScriptFinding)


@dataclass(frozen=True)
class PythonText:
    """The Python in a script.

    Args:
        text: its text; of a notebook, that of all cells.
        begins: of a notebook, the number of each cell and the lines above it.
        unread: why cells were left out.
    """

    name: str
    text: str
    begins: tuple[tuple[int, int], ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return Path(self.name).parent

    def read(self) -> Script:
        """Return what the script names.

        Raises:
            ScriptError: it is empty, or does not parse.
        """
        if not self.text.strip():
            raise ScriptError(f"{self.name} is empty: it has no Python")
        try:
            return read(self.text, self.folder)
        except ScriptError as error:
            raise ScriptError(f"{self.name}: {error}") from error

    def in_its_cell(self, found: _Placed) -> _Placed:
        """Return something with its line counted within its cell."""
        if not self.begins:
            return found
        above = [lines for _, lines in self.begins]
        cell, lines = self.begins[bisect_right(above, found.line - 1) - 1]
        return replace(found, line=found.line - lines, cell=cell)


def python_text(path: Path) -> PythonText:
    """Return the Python in a script.

    Raises:
        ScriptError: it cannot be read, is not text, or is not a notebook.
    """
    text = load(path).text.removeprefix(_BOM)
    return (
        _of_notebook(path, text) if path.suffix.lower() == ".ipynb" else PythonText(str(path), text)
    )


def _of_notebook(path: Path, text: str) -> PythonText:
    try:
        sources = {
            number: "".join(cell.get("source", ()))
            for number, cell in enumerate(json.loads(text)["cells"], 1)
            if cell.get("cell_type") == "code"
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ScriptError(f"{path} is no notebook: it is not JSON with a list of cells") from error
    parts: list[str] = []
    begins: list[tuple[int, int]] = []
    unread: list[str] = []
    for number, source in sources.items():
        if cell_magic(source) is not None:
            continue
        part = held(source.rstrip("\n"), [])
        try:
            parsed(part)
        except ScriptError as error:
            unread.append(f"cell {number}, {error}")
            continue
        begins.append((number, sum(above.count("\n") + 1 for above in parts)))
        parts.append(part)
    return PythonText(str(path), "\n".join(parts), tuple(begins), tuple(unread))
