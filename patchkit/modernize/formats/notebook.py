"""Notebooks: their cells in Python, and the lines in them that start trainings."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from ...legacy.versions.due import Due
from .. import python
from ..errors import ScriptError
from ..findings import Modernized, ScriptFinding, ScriptOutcome
from ..reading.reader import parsed
from . import shell, yaml_settings
from .edits import edited
from .launches import Scripts
from .magics import CellMagic, cell_magic, held, released, shell_view
from .notebook_json import CellSource, rewritten, sources
from .shell import no_script

_END = "pass  # patchkit ends a cell"
_ENDS = re.compile(rf"^{_END}\n", re.MULTILINE)
_SHELLS = frozenset({"bash", "sh", "shell"})


@dataclass
class _Cell:
    """A cell with code; `text` is rewritten step by step."""

    number: int
    source: CellSource
    text: str

    def findings(self, found: list[ScriptFinding], lines_above: int = 0) -> Iterator[ScriptFinding]:
        for finding in found:
            yield replace(finding, cell=self.number, line=finding.line + lines_above)


def modernize(text: str, due: Due, script: Scripts = no_script) -> Modernized:
    """Rewrite the cells of a notebook; everything else in the file stays.

    Raises:
        ScriptError: it is not a notebook, or has no cells.
    """
    document = _parsed(text)
    if _language(document) not in ("", "python", "ipython", "python3"):
        return Modernized(text, ())
    places = sources(text)
    cells = [
        _Cell(number, places[number - 1], places[number - 1].text)
        for number, cell in enumerate(document["cells"], 1)
        if isinstance(cell, dict) and cell.get("cell_type") == "code" and number - 1 in places
    ]
    files = {
        PurePosixPath(magic.file).name: cell.text[magic.end :]
        for cell in cells
        if (magic := cell_magic(cell.text)) is not None and magic.file.endswith(".py")
    }

    def find(path: str) -> str | None:
        return files.get(PurePosixPath(path).name) or script(path)

    found = [*_python(cells, due), *_others(cells, due, find)]
    found.sort(key=lambda finding: (finding.cell, finding.line))
    edits = [
        rewritten(text, cell.source, cell.text) for cell in cells if cell.text != cell.source.text
    ]
    return Modernized(edited(text, edits), found)


def _parsed(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ScriptError(f"line {error.lineno}: no notebook: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ScriptError(f"no notebook: {error}") from error
    if isinstance(document, dict) and "worksheets" in document:
        raise ScriptError("a notebook of format 3; convert it with `jupyter nbconvert` first")
    if not isinstance(document, dict) or not isinstance(document.get("cells"), list):
        raise ScriptError("no notebook: it is JSON without cells")
    if not document["cells"]:
        raise ScriptError("a notebook without cells; there is nothing to rewrite")
    return document


def _language(document: dict[str, Any]) -> str:
    metadata = document.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        known = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(known, dict) and isinstance(known.get(name), str):
            return str(known[name]).lower()
    return ""


def _python(cells: list[_Cell], due: Due) -> Iterator[ScriptFinding]:
    """Rewrite the cells in Python, all together: one uses what another imports."""
    read: list[_Cell] = []
    parts: list[str] = []
    lines: list[str] = []
    begins: list[int] = []
    for cell in cells:
        if cell_magic(cell.text) is not None or not cell.text.strip():
            continue
        own: list[str] = []
        part = held(cell.text, own, len(lines))
        if (trouble := _trouble(part)) is not None:
            line, reason = trouble
            old = cell.text.split("\n")[line - 1].strip()
            because = f"the cell is not Python, and was left as it is: {reason}"
            yield ScriptFinding(line, old, "", because, ScriptOutcome.REMARKED, cell.number)
            continue
        begins.append(sum(above.count("\n") for above in parts))
        parts.append(f"{part}\n{_END}\n")
        lines += own
        read.append(cell)
    if not read:
        return
    joined = "".join(parts)
    result = python.modernize(joined, due)
    for finding in result.findings:
        place = max(bisect_right(begins, finding.line - 1) - 1, 0)
        line = finding.line - begins[place]
        yield replace(finding, cell=read[place].number, line=line)
    text = released(result.text, lines)
    pieces = _ENDS.split(text) if text is not None else []
    if len(pieces) != len(read) + 1:
        raise ScriptError("the rewritten cells cannot be told apart; modernize them one by one")
    for cell, piece in zip(read, pieces, strict=False):
        cell.text = piece.removesuffix("\n")


def _trouble(text: str) -> tuple[int, str] | None:
    """Return the line and the reason why a cell is not Python; None if it is."""
    try:
        parsed(text)
    except ScriptError as error:
        cause = error.__cause__
        line = min(getattr(cause, "lineno", None) or 1, text.count("\n") + 1)
        return line, str(getattr(cause, "msg", cause)).rstrip(".?")
    return None


def _others(cells: list[_Cell], due: Due, script: Scripts) -> Iterator[ScriptFinding]:
    """Rewrite lines for the shell, and files that cells write."""
    for cell in cells:
        magic = cell_magic(cell.text)
        if magic is None:
            before, found = cell.source.text, []
            if "!" in before:
                found = shell.changed_in(shell_view(before), due, script)[1]
                edits, _ = shell.changed_in(shell_view(cell.text), due, script)
                cell.text = edited(cell.text, edits)
            yield from cell.findings(found)
        elif (result := _body(magic, cell.text[magic.end :], due, script)) is not None:
            cell.text = cell.text[: magic.end] + result.text
            yield from cell.findings(list(result.findings), 1)


def _body(magic: CellMagic, body: str, due: Due, script: Scripts) -> Modernized | None:
    """Rewrite what stands below the magic of a cell; None if its format is not known."""
    try:
        if magic.name in _SHELLS or magic.file.endswith(".sh"):
            return shell.modernize(body, due, script)
        if magic.file.endswith(".py"):
            return python.modernize(body, due)
        if magic.file.endswith((".yaml", ".yml")):
            return yaml_settings.modernize(body, due)
    except ScriptError:
        pass  # a piece of a file, or a template
    return None
