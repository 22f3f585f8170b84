"""Files beside a script that say more of it, and settings that it reads from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OPENING = frozenset({"Path", "open", "read_text"})
"""Functions and methods between the path of a file and what reads its settings."""
READERS = frozenset({"full_load", "load", "loads", "safe_load"})
"""Functions of json and yaml that read settings."""
_LARGEST = 1_000_000
"""Bytes of a file that is looked into."""


def text_of(path: Path) -> str | None:
    """Return the text of a file; None if it is too large, or cannot be read."""
    try:
        return None if path.stat().st_size > _LARGEST else path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def settings_of(path: Path) -> Any:
    """Return what a file in JSON or YAML has; None if it is another file, or cannot be read."""
    is_yaml = path.suffix in (".yaml", ".yml")
    text = text_of(path) if is_yaml or path.suffix == ".json" else None
    if text is None:
        return None
    try:
        if not is_yaml:
            return json.loads(text)
        import yaml
    except (ImportError, ValueError, RecursionError):
        return None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
