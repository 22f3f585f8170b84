"""Releases that the table reaches, withdrawn ones too; later ones may follow.

They are those of `history.json`, which `python -m workbench releases --history` makes from released
wheels. `patchkit.modernize.history` says what else it has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("history.json")


@cache
def history() -> Mapping[str, Mapping[str, Any]]:
    """Return what the releases of each library have, as the file has it."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return {library: known for library, known in content.items() if library != "schema"}


@cache
def releases() -> Mapping[str, tuple[str, ...]]:
    """Return the releases by library, the oldest first."""
    return {library: tuple(known["releases"].split()) for library, known in history().items()}
