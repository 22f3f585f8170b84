"""Takes out of a text what is nobody's business: what the doctor says is pasted into issues."""

from __future__ import annotations

import contextlib
import getpass
import platform
import re
from pathlib import Path

_PATH = re.compile(r"(?<![\w./~])(?:[A-Za-z]:)?[\\/](?![\\/])(?:[^\s\\/:'\",;()<>|]+[\\/])+")
"""The folders of an absolute path, up to its last part; not those of an internet address."""
_COMMON = frozenset({"root", "user", "users", "home", "localhost", "runner"})
"""Names that name nobody, and are words."""


def without_private_data(text: str) -> str:
    """The text without folders of absolute paths, the name of the user and that of the machine."""
    home = str(_known(Path.home) or "")
    if len(home) > 1:
        text = text.replace(home, "~")
    text = _PATH.sub("…/", text)
    for name, instead in ((_known(getpass.getuser), "<user>"), (_known(platform.node), "<host>")):
        if name and len(str(name)) > 1 and str(name).lower() not in _COMMON:
            text = re.sub(rf"(?<!\w){re.escape(str(name))}(?!\w)", instead, text)
    return text


def _known(ask: object) -> object:
    # Where there is no home and no such user, asking raises KeyError, RuntimeError or OSError.
    with contextlib.suppress(Exception):
        return ask()  # type: ignore[operator]
    return None
