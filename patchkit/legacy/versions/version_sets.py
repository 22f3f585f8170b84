"""Sets of versions that work together, for scripts that need what is gone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..changes import Change, Form, Gone

FILE = Path(__file__).with_name("version_sets.txt")
"""Made by `python -m workbench sets` from the files in `version_sets/`."""


@cache
def sets() -> tuple[str, ...]:
    """Return what was run together, oldest first, as pins with blanks between, without torch."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if not line.startswith("#"))


def advice(change: Change) -> str:
    """Return a sentence that says which versions still have a name that is gone.

    Returns:
        a command for each form that the name had; nothing if no set is old enough.
    """
    forms = change.forms if isinstance(change, Gone) else ()
    commands = [
        f"{form.what}: {command}" if form.what else command
        for form in forms or (Form(before=change.gone),)
        if (command := install(form.before, form.also))
    ]
    return f"Versions that have it: {'; '.join(commands)}" if commands else ""


def install(before: str, also: str = "") -> str:
    """Return the command that installs the newest set from before a release.

    Args:
        before: the library and the release, as `trl 0.12.0`.
        also: what else is to be installed, as for pip.
    """
    found = set_before(before)
    if not found:
        return ""
    wanted = [*found.split(), *also.split()]
    return "pip install " + " ".join(f'"{pin}"' if "<" in pin else pin for pin in wanted)


def set_before(release: str) -> str:
    """Return the newest set from before a release; an empty text if all are newer."""
    from packaging.version import Version

    library, _, number = release.partition(" ")
    limit = Version(number)
    older = [
        known
        for known in sets()
        for pin in known.split()
        if pin.startswith(f"{library}==") and Version(pin.partition("==")[2]) < limit
    ]
    return older[-1] if older else ""
