"""The table of anchors: texts of rewritten functions that other tools look for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .reading import LookedFor
from .rewritten import RewrittenFunction

FILE = Path(__file__).with_name("anchors.json")
SCHEMA = 1

REPLACED: Mapping[tuple[str, str], str] = {
    (
        "peft-lora-input-dtype",
        "result = self.base_layer(x, *args, **kwargs)",
    ): "Unsloth looks for it in 8-bit layers only, which this patch leaves alone.",
    (
        "transformers-norm-output-dtype",
        "return self.weight * hidden_states.to(input_dtype)",
    ): "Unsloth looks for it in DeepSeek-V4's norm, to fix the same bug in the same way.",
}
"""Why a patch, by its id, cannot leave an anchor as it is, and what follows from that."""


@dataclass(frozen=True)
class Anchor:
    """A text of a rewritten function that a tool looks for.

    Args:
        tool: the distribution.
        release: its version.
        place: file and line there.
        text: the text.
        patches: the ids of the patches that rewrite a function with it.
    """

    tool: str
    release: str
    place: str
    text: str
    patches: tuple[str, ...]


def anchors(
    tool: str, release: str, texts: Iterable[LookedFor], functions: list[RewrittenFunction]
) -> list[Anchor]:
    """Return those texts that rewritten functions have, without their patches."""
    whole = "\0".join(function.before + function.dedented for function in functions)
    found: dict[str, Anchor] = {}
    for looked_for in texts:
        text = looked_for.text
        if text in found or text not in whole:
            continue
        patches = sorted(
            {name for function in functions if function.had(text) for name in function.patches}
        )
        place = f"{looked_for.file}:{looked_for.line}"
        found[text] = Anchor(tool, release, place, text, tuple(patches))
    return list(found.values())


def lost(anchor: Anchor, functions: Iterable[RewrittenFunction]) -> list[RewrittenFunction]:
    """Return the functions that had an anchor before they were rewritten, and have it no more."""
    return [
        function for function in functions if function.had(anchor.text) > function.has(anchor.text)
    ]


def unexplained(anchor: Anchor, functions: Iterable[RewrittenFunction]) -> list[str]:
    """Return the names of the functions in which an anchor is lost, and no patch says why."""
    return [
        function.name
        for function in lost(anchor, functions)
        if not any((patch, anchor.text) in REPLACED for patch in function.patches)
    ]


def read() -> list[Anchor]:
    table = json.loads(FILE.read_text(encoding="utf-8"))
    return [Anchor(**{**row, "patches": tuple(row["patches"])}) for row in table["anchors"]]


def write(rows: Iterable[Anchor], tools: Mapping[str, str]) -> None:
    """Write the table, with the releases of all tools that were read."""
    table = {"schema": SCHEMA, "tools": dict(tools), "anchors": [asdict(row) for row in rows]}
    FILE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
