"""Write small pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_LINK = re.compile(
    r"https://github\.com/(?P<name>[^/]+/[^/]+)/(?:issues|pull)/(?P<number>\d+)(?P<rest>\S*)"
)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines]


def code_block(text: str, language: str = "text") -> list[str]:
    """Return the lines of a block of code."""
    return [f"```{language}", text, "```"]


def upstream_link(address: str) -> str:
    """Return a link with a short text: `owner/name#1`."""
    link = _LINK.fullmatch(address)
    return f"[{link['name']}#{link['number']}]({address})" if link else f"<{address}>"


def ranges(affects: dict[str, str]) -> str:
    """Return ranges of versions as code: `trl >=0.26`."""
    return ", ".join(
        f"`{name} {versions}`".replace(" `", "`") for name, versions in affects.items()
    )
