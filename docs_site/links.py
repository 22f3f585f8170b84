"""Links from file to file of the repository, which code hosts follow, as links of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_HOME = "README.md"


def site_links(text: str, place: str, elsewhere: Mapping[str, str], repository: Path) -> str:
    """The text of a page with its links changed.

    A link to a file that is no page becomes plain text: the site does not show the repository.
    One to a file that is not there stays as it is, so that a strict build refuses it.

    Args:
        text: Markdown.
        place: of its file in the repository.
        elsewhere: pages of the site whose files stand outside of docs/, to these files.
        repository: the folder.
    """
    pages = {file: page for page, file in elsewhere.items()} | {_HOME: "index.md"}
    here = next((page for page, file in elsewhere.items() if file == place), None)
    folder = posixpath.dirname(here or posixpath.relpath(place, "docs"))

    def changed(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link["target"]))
        page = pages.get(target) or (
            target.removeprefix("docs/") if target.startswith("docs/") else None
        )
        if page is not None:
            address = posixpath.relpath(page, folder or ".")
            return f"[{link['text']}]({address}{link['anchor'] or ''})"
        return link["text"] if repository.joinpath(target).exists() else link[0]

    return _LINK.sub(changed, text)
