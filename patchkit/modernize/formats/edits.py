"""Changes to a text that leave the rest of it as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_REMARK = "# patchkit: "


@dataclass(frozen=True, order=True)
class TextEdit:
    """A piece of a text, and what takes its place.

    Args:
        end: where it ends; the same as `start` to put something there.
    """

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """Return a text with edits that do not overlap."""
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits):
        pieces += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*pieces, text[done:]])


def line_of(text: str, position: int) -> int:
    """Return the number of the line, from 1, that a position is in."""
    return text.count("\n", 0, position) + 1


def start_of_line(text: str, position: int) -> int:
    """Return where the line begins that a position is in."""
    return text.rfind("\n", 0, position) + 1


def end_of_line(text: str, position: int) -> int:
    """Return where the next line begins, or the text ends."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def line_break(text: str) -> str:
    """Return what ends the first line of a text."""
    return "\r\n" if "\r\n" in text[: end_of_line(text, 0)] else "\n"


def remark_above(text: str, position: int, remark: str) -> list[TextEdit]:
    """Put a remark above the line that a position is in, unless it stands there."""
    start = start_of_line(text, position)
    line = _REMARK + " ".join(remark.split())
    if line in text[:start]:
        return []
    indent = text[start : len(text) - len(text[start:].lstrip(" \t"))]
    return [TextEdit(start, start, f"{indent}{line}{line_break(text)}")]
