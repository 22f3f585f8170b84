"""Scripts on disk: Python files, and notebooks with all cells as one text."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from ..errors import ScriptError
from ..reading import Script, read
from .needs import Need
from .silent import Silent

_KINDS = (".py", ".ipynb")
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "site-packages"})
_Placed = TypeVar("_Placed", Need, Silent)


@dataclass(frozen=True)
class Source:
    """The text of a script.

    Args:
        name: its path, as it was given.
        text: Python; of a notebook, all of its cells.
        begins: of a notebook, the number of each cell and the line before its first.
        unread: why cells were left out.
    """

    name: str
    text: str
    begins: tuple[tuple[int, int], ...] = ()
    unread: tuple[str, ...] = ()

    def read(self) -> Script:
        """Return what the script names.

        Raises:
            ScriptError: it is empty, or does not parse.
        """
        if not self.text.strip():
            raise ScriptError("is empty")
        return read(self.text)

    def in_its_cell(self, found: _Placed) -> _Placed:
        """Return something with its line counted within its cell."""
        if not self.begins:
            return found
        starts = [line for _, line in self.begins]
        cell, before = self.begins[bisect_right(starts, found.line - 1) - 1]
        return replace(found, line=found.line - before, cell=cell)


def scripts(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the scripts that paths name: files, and those in folders.

    Raises:
        ScriptError: a path does not exist, is of another kind, or is a folder without scripts.
    """
    for path in paths:
        if path.is_dir():
            found = sorted(it for kind in _KINDS for it in path.rglob(f"*{kind}") if _counts(it, path))
            if not found:
                raise ScriptError(f"{path}: there is no script in this folder ({', '.join(_KINDS)})")
            yield from found
        elif not path.exists():
            raise ScriptError(f"{path}: there is no such file")
        elif path.suffix not in _KINDS:
            raise ScriptError(f"{path}: no script; expected a file that ends in {' or '.join(_KINDS)}")
        else:
            yield path


def _counts(file: Path, folder: Path) -> bool:
    parts = file.relative_to(folder).parts[:-1]
    return file.is_file() and not any(it in _LEFT_OUT or it.startswith(".") for it in parts)


def source(path: Path) -> Source:
    """Read the text of a script.

    Raises:
        ScriptError: it cannot be read, or is no text.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ScriptError(f"cannot be read: {error.strerror}") from error
    return _of_notebook(path, content) if path.suffix == ".ipynb" else _of_python(path, content)


def _of_python(path: Path, content: bytes) -> Source:
    import importlib.util

    try:
        return Source(str(path), importlib.util.decode_source(content))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ScriptError(f"is no text: {error}") from error


def _of_notebook(path: Path, content: bytes) -> Source:
    try:
        cells = json.loads(content)["cells"]
        texts = {
            number: "".join(cell["source"])
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code"
        }
    except (ValueError, TypeError, KeyError) as error:
        raise ScriptError("is no notebook: it is not JSON with a list of cells") from error
    return Source(str(path), "")
