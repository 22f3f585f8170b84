"""How messages name changes."""

from __future__ import annotations

from typing import Any

from ..libraries import title
from .changes import Adjusted, Change, Keyword

LEAVE_OUT = "leave it out"
_FORMER_NAMES = {
    "PythonBackend": "PreTrainedTokenizer",
    "TokenizersBackend": "PreTrainedTokenizerFast",
}
"""Classes that scripts know by other names; the libraries take both names."""


def class_name(cls: type) -> str:
    """Return the name of a class as scripts know it."""
    return _FORMER_NAMES.get(cls.__name__, cls.__name__)


def release(text: str) -> str:
    """Return a library and a release as in a sentence: `TRL 0.12.0`."""
    library, _, number = text.partition(" ")
    return f"{title(library)} {number}"


def since(change: Change) -> str:
    """Say since when an old spelling is not understood, or a new one is."""
    if isinstance(change, Keyword | Adjusted) and change.early:
        return f"came with {release(change.since)}"
    return f"has been gone since {release(change.gone)}"


def shown(value: Any) -> str:
    """Return a value as a script would write it; only its class if that takes many words."""
    text = repr(value)
    if len(text) <= 60 and "\n" not in text:
        return text
    return f"{getattr(value, 'class_name', type(value).__name__)}(…)"
