"""Collect errors that the pages quote without a patch for them, and say where."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from links import plain_text
from markdown.extensions.toc import slugify
from markup import ranges

from patchkit.cli.doctor.pairs import KNOWN

TABLES = (
    ("families.md", "What fails both ways"),
    ("families.md", "No tiny model"),
)
"""Pages, and headings of tables whose last column says why."""
SILENT = ("errors.md", "Wrong results without a message")
"""A page, and the heading above what has no message; each part has a heading of its own."""
PAIRS = ("doctor.md", "Versions known not to work together")

_CODE = re.compile(r"`([^`]+)`")
_PHASE = re.compile(r"^[a-z]+: (?=\w+: )")
_TYPE = re.compile(r"^\w+(Error|Exception): ")
_LONGEST = 120
"""Letters of the models or launchers that are named."""
_FEWEST_WORDS = 4
"""Words of a quoted error that tell it from others."""


@dataclass(frozen=True)
class Quoted:
    """An error that a page quotes.

    Args:
        error: its text, without the type; what varies is left out at the end.
        says: what the page says of it, as plain text.
        page: the page in docs/.
        heading: the heading above it.
    """

    error: str
    says: str
    page: str
    heading: str

    @property
    def anchor(self) -> str:
        return slugify(self.heading, "-")


def quoted_errors(docs: Path) -> Iterator[Quoted]:
    """Yield the errors of all pages.

    Raises:
        ValueError: a page lacks a heading.
    """
    for page, heading in TABLES:
        for *cells, why in _rows(_section(docs, page, heading)):
            where = ", ".join(cell for cell in cells if not _CODE.search(cell))
            says = ": ".join(
                filter(None, (textwrap.shorten(where, _LONGEST, placeholder=" …"), why))
            )
            for error in dict.fromkeys(_errors(" ".join(cells))):
                yield Quoted(error, plain_text(says), page, heading)
    page, heading = SILENT
    for part in re.findall(r"^### (.+)$", _section(docs, page, heading), re.MULTILINE):
        yield Quoted(part, "", page, part)
    page, heading = PAIRS
    for pair in KNOWN:
        says = f"{ranges(dict(pair.libraries))}: {pair.happens}. Do: {' or: '.join(pair.do)}"
        for error in _errors(pair.happens):
            yield Quoted(error, plain_text(says), page, heading)


def _section(docs: Path, page: str, heading: str) -> str:
    """Return what stands below a heading, up to the next one that is not below it."""
    text = docs.joinpath(page).read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(heading)}\n", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"docs/{page} must have the heading {heading!r}")
    below = text[found.end() :]
    after = re.search(rf"^#{{1,{len(found[1])}}} ", below, re.MULTILINE)
    return below[: after.start()] if after else below


def _rows(text: str) -> Iterator[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    for line in lines[2:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _errors(cell: str) -> Iterator[str]:
    for code in _CODE.findall(cell):
        for part in code.split("; with patchkit "):
            typed = _PHASE.sub("", part)
            error = _TYPE.sub("", typed)
            # `reload: OtherLogits: …` is what a test says, and no error of a library.
            if (typed == part or error != typed) and len(error.split()) >= _FEWEST_WORDS:
                yield error.removesuffix("...")
