"""Put what is measured into a page of the documentation."""

from __future__ import annotations

from pathlib import Path


def write(text: str, page: Path, marks: tuple[str, str]) -> None:
    """Put a text between a page's two marks.

    Raises:
        SystemExit: the page does not have them.
    """
    begin, end = marks
    old = page.read_text(encoding="utf-8")
    if begin not in old or end not in old:
        raise SystemExit(f"{page} has no place for the table: expected {begin} and {end}")
    head, rest = old.split(begin, 1)
    page.write_text(f"{head}{begin}\n{text}{end}{rest.split(end, 1)[1]}", encoding="utf-8")
