"""Lines of a notebook's cell that are not Python, with Python in their place meanwhile."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = re.compile(
    r"""
    (?P<indent>[ \t]*)
    (?:
        (?P<target>[\w.,\[\] \t]+=[ \t]*)?(?P<sign>[%!])
      | \?
      | [%\w.*]+\?{1,2}[ \t]*(?:\#.*)?$
      | (?:pip|conda|cd|ls|cat|mkdir|cp|mv|rm)[ \t]+[^\s=(.\[]
    )
    """,
    re.VERBOSE,
)
_HELD = re.compile(r"^.*# patchkit holds (\d+)$", re.MULTILINE)
_TOKEN = re.compile(r"'''|\"\"\"|'|\"|#|[(\[{]|[)\]}]|\\.")
_CELL = re.compile(r"\s*%%(\w+)[ \t]*([^\n]*)(?:\n|$)")
_WRITES = frozenset({"writefile", "file"})
_PYTHON = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "skip"})


@dataclass(frozen=True)
class CellMagic:
    """The first line of a cell that says what the rest is.

    Args:
        end: where the next line begins.
    """

    name: str
    rest: str
    end: int

    @property
    def file(self) -> str:
        """The file that the cell is written to; empty if it is not."""
        words = self.rest.split()
        return words[-1].strip("'\"") if self.name in _WRITES and words else ""


def cell_magic(source: str) -> CellMagic | None:
    """Return the magic of a whole cell; None if the cell has none, or remains Python."""
    match = _CELL.match(source)
    if match is None or match[1] in _PYTHON:
        return None
    return CellMagic(match[1], match[2].strip(), match.end())


def magic_lines(source: str) -> Iterator[tuple[int, re.Match[str] | None]]:
    """Yield the number, from 0, of each line of a cell that is a magic, or goes on with one.

    Yields:
        the line, and how the magic begins; None for a line that goes on with the one before.
    """
    depth, quote, continued, in_magic = 0, "", False, False
    for number, line in enumerate(source.split("\n")):
        match = None if depth or quote or continued else _begins(line)
        in_magic = match is not None or (in_magic and continued)
        if in_magic:
            yield number, match
        else:
            depth, quote = _after(line, depth, quote)
        continued = line.rstrip("\r").endswith("\\")


def _begins(line: str) -> re.Match[str] | None:
    match = _MAGIC.match(line)
    if match is None or match["sign"]:
        return match
    try:
        ast.parse(line.strip())
    except SyntaxError:
        return match
    return None


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Return the open brackets, and the open quote, behind a line of Python."""
    for match in _TOKEN.finditer(line):
        token = match[0]
        if quote:
            if token in (quote, quote * 3):
                quote = ""
        elif token == "#":
            break
        elif token[0] in "'\"":
            quote = token
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(depth - 1, 0)
    return depth, quote if len(quote) == 3 else ""


def held(source: str, lines: list[str], known: int = 0) -> str:
    """Return a cell with Python in the place of its magics.

    Args:
        source: of the cell.
        lines: gets the lines that were held; their numbers stand in the cell.
        known: the number of those that were held before.
    """
    written = source.split("\n")
    for number, match in magic_lines(source):
        line = written[number]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        instead = indent
        if match is not None:
            target = match["target"]
            instead += f"{target}None  " if target else "pass  "
        written[number] = f"{instead}# patchkit holds {known + len(lines)}"
        lines.append(line)
    return "\n".join(written)


def released(text: str, lines: list[str]) -> str | None:
    """Return a text with its magics; None if one has got lost."""
    if [int(number) for number in _HELD.findall(text)] != list(range(len(lines))):
        return None
    return _HELD.sub(lambda match: lines[int(match[1])], text)


def shell_view(source: str) -> str:
    """Return a text of the same length that has a cell's lines for the shell, and no others."""
    lines = source.split("\n")
    written = [line if line.lstrip().startswith("#") else "#" * len(line) for line in lines]
    in_shell = False
    for number, match in magic_lines(source):
        line = lines[number]
        if match is not None and (in_shell := match["sign"] == "!"):
            indent, begin = len(match["indent"]), match.end()
            written[number] = line[:indent] + "(" * (begin - indent) + line[begin:]
        elif in_shell:
            written[number] = line
    return "\n".join(written)
