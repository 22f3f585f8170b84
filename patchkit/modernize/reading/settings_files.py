"""Files beside a script that say more of it, and settings that it reads from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

OPENING = frozenset({"Path", "open", "read_text"})
"""Functions and methods between the path of a file and what reads its settings."""
READERS = frozenset({"full_load", "load", "loads", "safe_load"})
"""Functions of json and yaml that read settings."""
_NAMED = ("*.yaml", "*.yml", "*.json", "*/*.yaml", "*/*.yml", "*/*.json")
_MOST = 40
"""Files that are looked into for the settings of one name."""
_DEEPEST = 4
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


def settings_named(key: str, folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield settings of a name that files beside a script and in folders there have, with the file.

    Args:
        key: the name, a key on some level of a file.
        folder: where the script lies.
    """
    paths = sorted(chain.from_iterable(map(folder.glob, _NAMED))) if key else ()
    for path in islice(paths, _MOST):
        for settings in _named(key, settings_of(path)):
            yield path.relative_to(folder).as_posix(), settings


def _named(key: str, content: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    if not isinstance(content, dict) or depth > _DEEPEST:
        return
    for name, value in content.items():
        if name == key and isinstance(value, dict):
            yield {each: held for each, held in value.items() if isinstance(each, str)}
        else:
            yield from _named(key, value, depth + 1)
