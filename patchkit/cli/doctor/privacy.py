"""Remove private data from text: the doctor's output is pasted into issues."""

from __future__ import annotations

import contextlib
import getpass
import platform
import re
from pathlib import Path

_PATH = re.compile(r"(?<![\w./~])(?:[A-Za-z]:)?[\\/](?![\\/])(?:[^\s\\/:'\",;()<>|]+[\\/])+")
"""The folders of an absolute path, up to its last part; not those of an internet address."""
_COMMON = frozenset({"root", "user", "users", "home", "localhost", "runner"})
"""Common words that identify nobody."""


def without_private_data(text: str) -> str:
    """Return the text without folders of absolute paths, and names of the user and machine."""
    home = str(_value_or_none(Path.home) or "")
    if len(home) > 1:
        text = text.replace(home, "~")
    text = _PATH.sub("…/", text)
    names = {"<user>": getpass.getuser, "<host>": platform.node}
    for placeholder, lookup in names.items():
        name = _value_or_none(lookup)
        if name and len(str(name)) > 1 and str(name).lower() not in _COMMON:
            text = re.sub(rf"(?<!\w){re.escape(str(name))}(?!\w)", placeholder, text)
    return text


def _value_or_none(lookup: object) -> object:
    # Without a home or such a user, the lookup raises KeyError, RuntimeError or OSError.
    with contextlib.suppress(Exception):
        return lookup()  # type: ignore[operator]
    return None
