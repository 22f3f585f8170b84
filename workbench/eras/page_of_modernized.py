"""Write a table of how scripts fared that `patchkit modernize` rewrote."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .eras import SCRIPTS
from .page import same_losses, state_of
from .running import FAILED, TRAINED

MARKS = "<!-- modernized: begin -->", "<!-- modernized: end -->"
"""What stands before and behind the table in a page."""
_REFUSALS = ("GoneError", "LegacyError")
_NOTES = SCRIPTS / "modernized.txt"


def table(results: dict[str, Any]) -> str:
    """Return results as a Markdown table."""
    notes = dict(_notes())
    rows = [
        "| script | with the legacy layer | rewritten, without it | losses | changed | left |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, sides in results.items():
        layer, new = sides.get("legacy"), sides.get("modernized")
        if layer is None or new is None:
            continue
        outcomes = Counter(finding["outcome"] for finding in new["findings"])
        cells = (
            name,
            _with_layer(layer),
            _became(new),
            _losses(sides) + (f": {notes[name]}" if name in notes else ""),
            str(outcomes["changed"]),
            _left(new),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _with_layer(layer: dict[str, Any]) -> str:
    refused = any(name in layer.get("error", "") for name in _REFUSALS)
    return "refused" if refused else str(layer["state"])


def _became(new: dict[str, Any]) -> str:
    if new["state"] == FAILED and any(finding["outcome"] == "gone" for finding in new["findings"]):
        return "gone, and said"
    told = state_of(new)
    return told if told.strip("`") else FAILED


def _losses(sides: dict[str, Any]) -> str:
    """Compare losses with those of the layer, whose run had the patches, too."""
    layer, new, patched = sides["legacy"], sides["modernized"], sides.get("patched")
    if layer["state"] != TRAINED or new["state"] != TRAINED:
        return ""
    found = same_losses(layer, new)
    if found != "same" and patched is not None and patched["state"] == TRAINED:
        found += f"; {same_losses(layer, patched)} with the patches"
    return found


def _left(new: dict[str, Any]) -> str:
    """Return what a person has to decide, or has no counterpart."""
    left = [finding for finding in new["findings"] if finding["outcome"] in ("remarked", "gone")]
    said = dict.fromkeys(f"`{finding['old']}` {finding['outcome']}" for finding in left)
    return ", ".join(said)


def _notes() -> list[tuple[str, str]]:
    """Return why losses of scripts differ, by name."""
    if not _NOTES.exists():
        return []
    lines = _NOTES.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("#")[0].split(None, 1) for line in lines)
    return [(pair[0], pair[1].strip()) for pair in pairs if len(pair) == 2]
