"""The page that lists all patches."""

from __future__ import annotations

from markup import ranges, table

from patchkit.catalogue.entries import Catalogue
from patchkit.catalogue.explanation import Explanation, explain

INTRODUCTION = """\
Which of them are due on your machine: `patchkit list`. What stands on these pages, in a terminal:
`patchkit explain ID`. If you have an error message, look for it under
[error messages](../errors.md)."""


def by_library(catalogue: Catalogue) -> dict[str, list[Explanation]]:
    """The patches of each library, in the order of the alphabet."""
    found: dict[str, list[Explanation]] = {}
    for one in sorted(map(explain, catalogue), key=lambda it: (it.library, it.id)):
        found.setdefault(one.library, []).append(one)
    return found


def index_page(catalogue: Catalogue) -> str:
    """The page in Markdown."""
    lines = ["# Patches", "", INTRODUCTION]
    for library, patches in by_library(catalogue).items():
        rows = [
            [f"[`{one.id}`]({one.id}.md)", one.headline or one.title, ranges(one.affects)]
            for one in patches
        ]
        lines += ["", f"## {library}", "", *table(["patch", "the bug", "affected"], rows)]
    return "\n".join(lines) + "\n"
