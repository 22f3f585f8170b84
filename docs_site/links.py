"""Turn links between files of the repository into links of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_HOME = "README.md"


def site_links(text: str, place: str, elsewhere: Mapping[str, str], repository: Path) -> str:
    """Return the text of a page with the links of the site.

    A link to a file that is not a page becomes plain text: the site does not show the repository.
    A link to a missing file stays as it is, so that a strict build fails on it.

    Args:
        text: Markdown.
        place: its file, relative to the repository.
        elsewhere: page to file, for files outside of docs/.
        repository: the folder.
    """
    pages = {file: page for page, file in elsewhere.items()} | {_HOME: "index.md"}
    here = next((page for page, file in elsewhere.items() if file == place), None)
    folder = posixpath.dirname(here or posixpath.relpath(place, "docs"))

    def convert(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link["target"]))
        page = pages.get(target) or (
            target.removeprefix("docs/") if target.startswith("docs/") else None
        )
        if page is not None:
            address = posixpath.relpath(page, folder or ".")
            return f"[{link['text']}]({address}{link['anchor'] or ''})"
        return link["text"] if repository.joinpath(target).exists() else link[0]

    return _LINK.sub(convert, text)


def plain_text(markdown: str) -> str:
    """Return a sentence of Markdown without its links and marks of code."""
    return (
        re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", markdown).replace("`", "").replace("\\|", "|")
    )
