"""Results as lines and as a table."""

from __future__ import annotations

import re
from typing import Any

from .running import FAILED, RAN, TRAINED

MARKS = "<!-- eras: begin -->", "<!-- eras: end -->"
"""What stands before and behind the table in a page."""
NOISE = 0.02
"""The relative difference of two losses that counts as noise."""
LEAST = 1e-2
"""The least loss that a difference is held against: that of GRPO is about zero."""
_WIDEST = 110
_PATH = re.compile(r" ?\(/[^)]*\)|(?<=')/[^']*/|patchkit\.legacy\.errors\.|=====+")
"""What tells nothing elsewhere: where a module lies on this machine, and rules."""


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
        cells = (name, state_of(own), state_of(newest), state_of(legacy), *_compared(own, new))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def state_of(result: dict[str, Any] | None) -> str:
    if result is None:
        return "not run"
    if result["state"] != FAILED:
        return str(result["state"])
    error = _PATH.sub("", result["error"]).replace("|", "\\|")
    return f"`{error[:_WIDEST]}{'…' if len(error) > _WIDEST else ''}`"


def _compared(own: dict[str, Any] | None, new: dict[str, Any] | None) -> tuple[str, str]:
    """Say whether both sides saw the same token ids and the same losses."""
    if not own or not new or own["state"] != TRAINED or new["state"] != TRAINED:
        return "", ""
    return _same_ids(own["batch"], new["batch"]), same_losses(own, new)


def _same_ids(own: dict[str, Any], new: dict[str, Any]) -> str:
    rows, others = _sequences(own), _sequences(new)
    if not rows or not others:
        return "not seen"
    if rows != others:
        return "other order" if sorted(rows) == sorted(others) else "other"
    if "labels" in own and "labels" in new and own["labels"] != new["labels"]:
        return "other labels"
    return "same"


def _sequences(batch: dict[str, Any]) -> list[list[int]]:
    """Return the rows that a model saw, whatever names a release gives to their parts."""
    parts = [
        batch[name]
        for pair in (("chosen_input_ids", "rejected_input_ids"), ("completion_input_ids",))
        for name in pair
        if name in batch
    ]
    prompts = batch.get("prompt_input_ids")
    if not parts:
        names = ("input_ids_chosen", "input_ids_rejected", "input_ids", "prompt_ids")
        return [row for name in names for row in batch.get(name, ())]
    rows = []
    for part in parts:
        for at, row in enumerate(part):
            prompt = prompts[at] if prompts else []
            rows.append(row if row[: len(prompt)] == prompt else prompt + row)
    return rows


def same_losses(own: dict[str, Any], new: dict[str, Any]) -> str:
    pairs = list(zip(own["losses"] or own["logged"], new["losses"] or new["logged"], strict=False))
    if not pairs:
        return ""
    widest = max(abs(left - right) / max(abs(left), LEAST) for left, right in pairs)
    return "same" if widest == 0 else f"{widest:.1e}{'' if widest <= NOISE else ' apart'}"
