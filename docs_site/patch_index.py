"""Write the page that lists all patches."""

from __future__ import annotations

from markup import ranges, table

from patchkit.catalogue.entries import Catalogue
from patchkit.catalogue.explanation import Explanation, explain

INTRODUCTION = """\
`patchkit list` shows which of them your installed versions need. `patchkit explain ID` prints one
of these pages in a terminal. If you have an error message, look for it under
[error messages](../errors.md)."""


def by_library(catalogue: Catalogue) -> dict[str, list[Explanation]]:
    """Return the patches of each library, in alphabetical order."""
    patches: dict[str, list[Explanation]] = {}
    for patch in sorted(map(explain, catalogue), key=lambda patch: (patch.library, patch.id)):
        patches.setdefault(patch.library, []).append(patch)
    return patches


def index_page(catalogue: Catalogue) -> str:
    """Return the page in Markdown."""
    lines = ["# Patches", "", INTRODUCTION]
    for library, patches in by_library(catalogue).items():
        rows = [
            [f"[`{patch.id}`]({patch.id}.md)", patch.headline or patch.title, ranges(patch.affects)]
            for patch in patches
        ]
        lines += ["", f"## {library}", "", *table(["patch", "the bug", "affected versions"], rows)]
    return "\n".join(lines) + "\n"
