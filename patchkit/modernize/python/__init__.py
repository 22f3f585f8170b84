"""Rewrite Python source for other releases."""

from __future__ import annotations

from ...legacy.versions.due import Due
from ..findings import Modernized


def modernize(text: str, due: Due) -> Modernized:
    """Rewrite a script for other releases.

    Args:
        text: Python source.
        due: what has changed in these releases.

    Raises:
        ScriptError: it does not parse, or LibCST is missing.
    """
    from .rewriting import rewritten

    return rewritten(text, due)
