"""Draw how many cells fail for which cause: bars on white, so that they read on any page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from .known import CAUSES

_WIDTH, _LEFT, _ROW, _BAR = 720, 240, 28, 18
_TITLE = "Cells that fail with patchkit and without it, by cause"


def draw_causes(counts: Mapping[str, int]) -> str:
    """Return the picture; bars say their numbers, so that no colour is needed to read it."""
    rows = [(CAUSES[name], counts.get(name, 0)) for name in CAUSES]
    rows.sort(key=lambda row: -row[1])
    longest = max(number for _, number in rows) or 1
    height = _ROW * (len(rows) + 2)
    return "\n".join(
        (
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
                'role="img" font-family="sans-serif" font-size="14" fill="#222222">'
            ),
            f"<title>{_TITLE}</title>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="16" y="{_ROW}" font-weight="bold">{_TITLE}</text>',
            *_bars(rows, longest),
            "</svg>\n",
        )
    )


def _bars(rows: Iterable[tuple[str, int]], longest: int) -> Iterable[str]:
    for place, (name, number) in enumerate(rows, 1):
        middle = _ROW * (place + 0.75)
        length = round((_WIDTH - _LEFT - 80) * number / longest)
        yield f'<text x="{_LEFT - 12}" y="{middle + 5}" text-anchor="end">{escape(name)}</text>'
        yield (
            f'<rect x="{_LEFT}" y="{middle - _BAR / 2}" width="{length}" height="{_BAR}" '
            'fill="#0072b2"/>'
        )
        yield f'<text x="{_LEFT + length + 8}" y="{middle + 5}">{number}</text>'
