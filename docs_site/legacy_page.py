"""List what has changed in public interfaces, for the page that people find by an error."""

from __future__ import annotations

from collections.abc import Iterable

from table_filter import box

from patchkit.legacy.explanation import Described, described
from patchkit.legacy.rows import all_rows

CHANGES = "<!-- changes -->"


def fill_in(text: str) -> str:
    """Put the list into the page.

    Raises:
        ValueError: the page does not mark its place exactly once.
    """
    if text.count(CHANGES) != 1:
        raise ValueError(f"docs/legacy.md must contain {CHANGES} exactly once")
    changes = [change for row in all_rows() if (change := described(row)) is not None]
    lines = [box("Name, keyword or error"), *_sections(changes)]
    return text.replace(CHANGES, "\n".join(lines))


def heading(change: Described) -> str:
    """Return the heading that a change stands under."""
    return f"Gone since {change.gone}"


def _sections(changes: Iterable[Described]) -> list[str]:
    """Return a section for each library, with a table and what Python says."""
    by_release: dict[str, list[Described]] = {}
    for change in changes:
        by_release.setdefault(change.gone, []).append(change)
    lines = []
    for gone in sorted(by_release, key=_order):
        lines += [
            f"### {heading(by_release[gone][0])}",
            "",
            "| old | today | error |",
            "| --- | --- | --- |",
        ]
        lines += [_row(change) for change in by_release[gone]]
        lines.append("")
    return lines


def _row(change: Described) -> str:
    today = change.today.replace("|", "\\|")
    errors = "<br>".join(f"`{error}`" for error in change.errors)
    return f"| [`{change.old}`]({change.source}) | {today} | {errors} |"


def _order(gone: str) -> tuple[str, list[int]]:
    library, _, release = gone.partition(" ")
    return library, [-int(part) for part in release.split(".") if part.isdigit()]
