"""The words of a shell's lines, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_SEPARATOR = re.compile(r"\n|[;&|<>]+|[()]")
_REDIRECTIONS = frozenset({"<", ">", ">>", ">&", "&>", "&>>", "<<<", ">|"})
_PIECE = re.compile(
    r"""
    \\(?:\r?\n|.)
    | '[^']*'
    | \$?"(?:\\.|[^"\\])*"
    | \$\((?:[^()]|\([^()]*\))*\)
    | \$\{[^}]*\}
    | `[^`]*`
    | [^\s;&|<>()'"\\`]
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(\r?\n|.)", re.DOTALL)


@dataclass(frozen=True)
class Word:
    """A word of a command.

    Args:
        start: where it begins in the text.
        end: where it ends.
        raw: the word as it is written.
        value: what the shell makes of it, without quotes; variables stay as they are written.
    """

    start: int
    end: int
    raw: str
    value: str


def commands(text: str) -> Iterator[list[Word]]:
    """Yield the words of each simple command; what cannot be read ends the last one.

    What input and output are redirected to is left out.
    """
    found: list[Word] = []
    heredocs: list[str] = []
    position, redirects = 0, False
    while position < len(text):
        if blank := _BLANK.match(text, position):
            position = blank.end()
        elif comment := _COMMENT.match(text, position):
            position = comment.end()
        elif heredoc := _HEREDOC.match(text, position):
            heredocs.append(heredoc[2])
            position = heredoc.end()
        elif separator := _SEPARATOR.match(text, position):
            if redirects := separator[0] in _REDIRECTIONS:
                if found and found[-1].end == position and found[-1].raw.isdigit():
                    found.pop()
            elif found:
                yield found
                found = []
            position = separator.end()
            if separator[0] == "\n":
                position = _after_heredocs(text, position, heredocs)
                heredocs.clear()
        else:
            word = _word(text, position)
            if word is None:
                break
            if not redirects:
                found.append(word)
            position, redirects = word.end, False
    if found:
        yield found


def _word(text: str, start: int) -> Word | None:
    end = start
    value: list[str] = []
    while piece := _PIECE.match(text, end):
        value.append(_unquoted(piece[0]))
        end = piece.end()
    return Word(start, end, text[start:end], "".join(value)) if end > start else None


def _unquoted(piece: str) -> str:
    if piece.startswith("'"):
        return piece[1:-1]
    if piece.startswith(('"', '$"')):
        return _ESCAPED.sub(r"\1", piece[piece.index('"') + 1 : -1])
    if piece.startswith("\\"):
        return "" if piece[1:] in ("\n", "\r\n") else piece[1:]
    return piece


def _after_heredocs(text: str, position: int, ends: list[str]) -> int:
    """Return where a text goes on after what is fed to commands."""
    for end in ends:
        closing = re.compile(rf"^[ \t]*{re.escape(end)}\r?$", re.MULTILINE).search(text, position)
        position = len(text) if closing is None else closing.end()
    return position
