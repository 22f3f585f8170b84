"""Draw an asciicast as an animated SVG: lines that stay, each from the time it was printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

_LONGEST_PAUSE = 0.7
"""Seconds that the film waits at most for the next line."""
_TYPING = 0.035
"""Seconds for a typed character."""
_READING = 1.2
"""Seconds from the last line of an output to the next command."""
_HOLD = 6.0
"""Seconds that the whole is seen before the film starts again."""
_TIMES = 3
"""How often the film is played; then its last frame stays."""
_CHARACTER, _LINE, _MARGIN = 8.4, 19, 18
_GROUND = "#14181f"
_STYLE = """\
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; \
fill: #d6dde5; white-space: pre; }
.prompt { fill: #6fb7a8; }
.typed { fill: #ffffff; font-weight: 600; }
.error { fill: #ff8f86; }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } }"""


@dataclass(frozen=True)
class ScreenLine:
    """A line on the screen.

    Args:
        begin: when it is seen first, in seconds of the film.
        prompt: what stands before a command; empty for a line of output.
        text: what is typed or printed.
    """

    begin: float
    prompt: str
    text: str


def draw(cast: Path, title: str) -> str:
    """Return the picture. Viewers that do not animate show its last frame.

    Args:
        cast: a recording in the format asciicast v2, each command after a prompt.
        title: what the picture shows, for those who cannot see it.
    """
    header, *events = map(json.loads, cast.read_text(encoding="utf-8").splitlines())
    prompt = events[-1][2]
    lines = list(_lines(events, prompt, header["width"]))
    length = lines[-1].begin + _HOLD
    width = round(header["width"] * _CHARACTER + 2 * _MARGIN)
    height = len(lines) * _LINE + 2 * _MARGIN
    styles, texts = [_STYLE], []
    for number, line in enumerate(lines):
        top = _MARGIN + number * _LINE
        styles.append(_appearance(f"l{number}", line.begin, length))
        texts.append(f'<g class="l{number}">{_text(line, top + 14)}</g>')
        if line.prompt and line.text:
            styles.append(_typing(f"c{number}", line, length))
            left = f'x="{_MARGIN + len(line.prompt) * _CHARACTER:g}"'
            size = f'width="0" height="{_LINE}"'
            texts.append(f'<rect class="c{number}" {left} y="{top}" {size} fill="{_GROUND}"/>')
    size = f'width="{width}" height="{height}"'
    view = f'viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} {size} role="img">',
        f"<title>{escape(title)}</title>",
        "<style>",
        *styles,
        "</style>",
        f'<rect {size} rx="8" fill="{_GROUND}" stroke="#59636e"/>',
        *texts,
        "</svg>",
    ]
    return "".join(f"{part}\n" for part in parts)


def _lines(events: list[list[str]], prompt: str, columns: int) -> Iterator[ScreenLine]:
    """Yield the lines in the film's time: pauses are shortened, and commands are typed."""
    now, before = 0.3, 0.0
    for number, (time, _, text) in enumerate(events):
        typed = text.startswith(prompt)
        if number:
            now += _READING if typed else min(float(time) - before, _LONGEST_PAUSE)
        before = float(time)
        content = text.removeprefix(prompt).rstrip("\n")
        if typed:
            yield ScreenLine(now, prompt, content)
            now += len(content) * _TYPING
        else:
            for start in range(0, max(len(content), 1), columns):
                yield ScreenLine(now, "", content[start : start + columns])


def _text(line: ScreenLine, y: float) -> str:
    parts: tuple[tuple[str, str], ...]
    if line.prompt:
        parts = (("prompt", line.prompt), ("typed", line.text))
    else:
        parts = (("error" if "Error: " in line.text else "printed", line.text),)
    spans = (f'<tspan class="{kind}">{escape(text)}</tspan>' for kind, text in parts)
    return f'<text x="{_MARGIN}" y="{y:g}">{"".join(spans)}</text>'


def _appearance(name: str, begin: float, length: float) -> str:
    at = 100 * begin / length
    return (
        f"@keyframes {name} {{ 0%, {at:.3f}% {{ opacity: 0; }} {at + 0.001:.3f}%, 100% "
        f"{{ opacity: 1; }} }}\n.{name} {{ animation: {name} {length:.2f}s {_TIMES}; }}"
    )


def _typing(name: str, line: ScreenLine, length: float) -> str:
    """Uncover a command letter by letter."""
    begin = 100 * line.begin / length
    end = 100 * (line.begin + len(line.text) * _TYPING) / length
    wide = len(line.text) * _CHARACTER + 4
    return (
        f"@keyframes {name} {{ 0%, {begin:.3f}% {{ width: {wide:g}px; transform: none; "
        f"animation-timing-function: steps({len(line.text)}); }} {end:.3f}%, 100% "
        f"{{ width: {wide:g}px; transform: translateX({wide:g}px); }} }}\n"
        f".{name} {{ animation: {name} {length:.2f}s {_TIMES}; }}"
    )
