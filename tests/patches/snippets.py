"""Code in upstream's shape as it stands and as a patch leaves it, and numbers to run it on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from patchkit.patch import Patch, Rewrite
from patchkit.rewrite import functions_in_file
from patchkit.rewrite.edit import apply_edits


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return different numbers from -1 to 1."""
    return torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape).to(dtype)


def distance(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Return how far numbers are from those expected, relative to the size of these."""
    found, expected = found.float(), expected.float()
    return float((found - expected).norm() / expected.norm())


def made(patch: Patch, signature: str, body: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a function as it stands, and as the rules of a patch leave it."""
    text = f"def snippet{signature}:\n    {body}\n"
    (source,) = functions_in_file(text, "model.py")
    rules = {change.rule for change in patch.changes if isinstance(change, Rewrite)}
    edits = [edit for rule in rules for site in rule.plan(source) for edit in site]
    assert edits
    functions = []
    for code in (text, "".join(apply_edits(source.lines, edits))):
        names: dict[str, Any] = {"torch": torch}
        exec(code, names)
        functions.append(names["snippet"])
    return functions[0], functions[1]
