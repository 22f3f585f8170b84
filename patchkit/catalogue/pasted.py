"""Take away what a screen, a log or a web page put around and into an error message."""

from __future__ import annotations

import re

# Also read by JavaScript, with its flags `g`, `m` and `u`.
CONTROLS = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[A-Za-z]|[\r\u200b\ufeff]"
"""Colours and links of terminals, the line ends of Windows, and letters that nobody sees."""
_RANK = r"\[(?:rank|default)\d+\]:"
_TIME = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.,:+Z-]*\]?"
_PROCESS = r"\([\w.-]+ pid=\d+[^()\n]*\)"
BEGINNINGS = rf"^[ \t]*(?:(?:{_RANK}|{_TIME}|{_PROCESS}|[|>])[ \t]*)+"
"""What torchrun, Ray, loggers and quoting in mails put at the beginning of each line."""
LETTERS = {
    "&quot;": '"',
    "&#34;": '"',
    "&#39;": "'",
    "&#x27;": "'",
    "&apos;": "'",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": " ",
    "&amp;": "&",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
}
"""How web pages and word processors write letters of messages; in this order."""


def cleaned(text: str) -> str:
    """Return a pasted error message or log as the program printed it, on one line."""
    text = re.sub(CONTROLS, "", text)
    for written, letter in LETTERS.items():
        text = text.replace(written, letter)
    return " ".join(re.sub(BEGINNINGS, "", text, flags=re.MULTILINE).split())
