"""Results as lines and as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .running import FAILED, RAN, TRAINED

BEGIN, END = "<!-- eras: begin -->", "<!-- eras: end -->"
NOISE = 0.02
"""The relative difference of two losses that counts as noise."""
_WIDEST = 110


def line(name: str, side: str, result: dict[str, Any]) -> str:
    """Return a result as one line."""
    if result["state"] in (TRAINED, RAN):
        said = ", ".join(f"{loss:.4f}" for loss in result["losses"] or result["logged"])
    else:
        said = f"{result.get('line', '')} -> {result.get('error', '')}"
    return f"{name} [{side}] {result['state']} {result['seconds']} s: {said}"


def table(results: dict[str, Any]) -> str:
    """Return results as a Markdown table."""
    rows = [
        "| script | its own set | newest | with the legacy layer | first batch | losses |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, sides in results.items():
        own, newest, legacy = (sides.get(side) for side in ("own", "newest", "legacy"))
        new = legacy if legacy and legacy["state"] == TRAINED else newest
        cells = (name, _state(own), _state(newest), _state(legacy), *_compared(own, new))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def write(text: str, page: Path) -> None:
    """Put a table between a page's two marks."""
    old = page.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise SystemExit(f"{page} has no place for the table: expected {BEGIN} and {END}")
    head, rest = old.split(BEGIN, 1)
    page.write_text(f"{head}{BEGIN}\n{text}{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def _state(result: dict[str, Any] | None) -> str:
    if result is None:
        return "not run"
    if result["state"] != FAILED:
        return str(result["state"])
    error = result["error"].replace("|", "\\|")
    return f"`{error[:_WIDEST]}{'…' if len(error) > _WIDEST else ''}`"


def _compared(own: dict[str, Any] | None, new: dict[str, Any] | None) -> tuple[str, str]:
    """Say whether both sides saw the same token ids and the same losses."""
    if not own or not new or own["state"] != TRAINED or new["state"] != TRAINED:
        return "", ""
    ids = "same" if own["batch"] == new["batch"] else "other"
    pairs = list(zip(own["losses"] or own["logged"], new["losses"] or new["logged"], strict=False))
    if not pairs:
        return ids, ""
    widest = max(abs(left - right) / max(abs(left), 1e-6) for left, right in pairs)
    return ids, "same" if widest == 0 else f"{widest:.1e}{'' if widest <= NOISE else ' apart'}"
