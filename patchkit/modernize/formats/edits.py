"""Changes to a text that leave the rest of it as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Edit:
    """A piece of a text, and what takes its place.

    Args:
        start: where the piece begins.
        end: where it ends; the same as `start` to put something there.
        text: what takes its place.
    """

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
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
