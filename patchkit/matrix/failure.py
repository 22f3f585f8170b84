"""The line of a failed tox run that says what went wrong."""

from __future__ import annotations

import re

_LONGEST = 300
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OF_TOX = re.compile(
    r"\s*(\S+: (venv|exit|OK|FAIL|SKIP|install\w*|commands\w*(\[\d+\])?|\w*package\w*)\b[ >:(].*"
    r"|(evaluation failed|congratulations) :.*)"
)
"""What tox says of its own doings."""
_MARK = re.compile(
    r"\s*(?:cause|error|(?:\S+: )?failed with|ROOT: HandledError|.*?╰─▶|\w+(?:Error|Exception))"
    r"(?=[:|\s])[:|]?\s*(?=\S)",
    re.IGNORECASE,
)
"""Begins the lines in which installers, tox and Python say what went wrong."""
_KEPT_NAME = re.compile(r"^\s*\w+(?:Error|Exception):")
_FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"`:]+/)+")
_HOST = re.compile(r"\b\w+://[^\s'\"`]+")


def telling_line(output: str) -> str:
    """The last thing in the output of tox that says what went wrong, on one line.

    Folders and addresses of the machine are left out: they are of no use to anybody else.
    """
    lines = [_COLOUR.sub("", line).rstrip() for line in output.splitlines()]
    lines = [line for line in lines if line and not _OF_TOX.fullmatch(line)]
    if not lines:
        return "tox failed and said nothing"
    marked = [number for number, line in enumerate(lines) if _MARK.match(line)]
    text = " ".join(" ".join(lines[marked[-1] :] if marked else lines[-1:]).split())
    if not _KEPT_NAME.match(text):
        text = _MARK.sub("", text, count=1)
    text = _HOST.sub("the package index", _FOLDERS.sub("", text))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
