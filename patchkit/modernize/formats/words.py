"""The words of a shell's lines and of its variables, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_FED = re.compile(
    r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n(?P<text>.*?)^[ \t]*\2\r?$", re.DOTALL | re.MULTILINE
)
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
_USE = re.compile(r"\$\{?(\w+)(?:\[[@*]\])?\}?")
_TEXT = re.compile(r"(\w+)\+?=(['\"])(.*)\2", re.DOTALL)
_ARRAY = re.compile(r"^[ \t]*(\w+)\+?=\(", re.MULTILINE)


@dataclass(frozen=True)
class Word:
    """A word of a command.

    Args:
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


def scripts_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the texts begin and end that are fed to commands and may be Python."""
    for script in _FED.finditer(text):
        if "import " in script["text"]:
            yield script.span("text")


def variables(text: str) -> dict[str, list[Word]]:
    """Return the words that variables hold, by name, with their places in the text."""
    found: dict[str, list[Word]] = {}
    for words in commands(text):
        for word in words:
            if held := _TEXT.fullmatch(word.raw):
                found.setdefault(held[1], []).extend(_words(word.start + held.start(3), held[3]))
    for array in _ARRAY.finditer(text):
        inside = text[array.end() :].partition(")")[0]
        found.setdefault(array[1], []).extend(_words(array.end(), inside))
    return found


def _words(start: int, inside: str) -> Iterator[Word]:
    for words in commands(inside):
        for word in words:
            yield replace(word, start=word.start + start, end=word.end + start)


def expanded(words: Sequence[Word], held: Mapping[str, Sequence[Word]]) -> Iterator[Word]:
    """Yield the words of a command with those of its variables in their places."""
    for word in words:
        use = _USE.fullmatch(word.value)
        yield from held.get(use[1], [word]) if use is not None else [word]
