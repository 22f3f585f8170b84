"""`patchkit doctor script.py`: which versions a script wants, and which set of them runs it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...engine.session import SESSION
from ...environment import cached_lookups, readable_version
from ...errors import UnreadableVersion, UsageError
from ...legacy.rows import all_rows
from ...matrix.records import LIBRARIES
from ...modernize.errors import ScriptError
from ...modernize.files import scripts
from ...modernize.history import shipped
from ...modernize.wanted import ScriptVerdict, ScriptWants, wanted
from ...modernize.wanted.constraints import due_in_float16
from ...modernize.wanted.measured import MeasuredSet, apart, best
from ...modernize.wanted.needs import Need
from ...modernize.wanted.source import KINDS, python_text
from ...patch import Patch
from ...text import short_list

SCHEMA = 1
_SHOWN = 5


@dataclass(frozen=True)
class Examined:
    """The result of examining scripts.

    Args:
        wanted: what each script wants.
        unread: script to the reason why it was not read.
        others: scripts that name none of the libraries.
        chosen: the measured set that has all names in the scripts; None if no set has.
        apart: if there is no such set, the name that no set has, or two that no set has together.
        without_bfloat16: whether a device without bfloat16 was asked for, or found.
        due: in that case, the patches that are due with the set.
    """

    wanted: tuple[ScriptWants, ...]
    unread: Mapping[str, str]
    others: tuple[str, ...] = ()
    chosen: MeasuredSet | None = None
    apart: tuple[Need, ...] = ()
    without_bfloat16: bool = False
    due: tuple[Patch, ...] = field(default=())

    @property
    def exit_status(self) -> int:
        """0 if each script runs as it is, 1 if not."""
        as_it_is = all(script.verdict is ScriptVerdict.AS_IT_IS for script in self.wanted)
        return 0 if as_it_is and not self.unread else 1

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "scripts": [script.to_dict() for script in self.wanted],
            "unread": dict(self.unread),
            "others": list(self.others),
            "versions": dict(self.chosen.versions) if self.chosen else None,
            "apart": [need.what for need in self.apart],
            "without_bfloat16": self.without_bfloat16,
            "due": [patch.id for patch in self.due],
        }


def _installed_versions() -> dict[str, str]:
    try:
        names = dict.fromkeys((*LIBRARIES, *(row.library for row in all_rows())))
        return {name: version for name in names if (version := readable_version(name))}
    except UnreadableVersion as error:
        raise UsageError(f"{error}; {error.advice}") from error


def _instead(files: Sequence[Path]) -> str:
    """Say what the only script imports from others; nothing if it imports nothing."""
    uses = python_text(files[0]).read().uses if len(files) == 1 else []
    packages = sorted({use.name.partition(".")[0] for use in uses} - sys.stdlib_module_names)
    if not packages:
        return ""
    return f"; patchkit does not read how it calls {short_list(packages, shown=_SHOWN)}"


def examine(paths: Sequence[Path], *, without_bfloat16: bool = False) -> Examined:
    """Find out what scripts want.

    Raises:
        ScriptError: a path names no script, or the only script cannot be read.
    """
    files = list(scripts(paths, KINDS))
    history = shipped()
    found: list[ScriptWants] = []
    unread: dict[str, str] = {}
    others: list[str] = []
    with cached_lookups():
        installed = _installed_versions()
        for file in files:
            try:
                text = python_text(file)
                has_text = len(files) == 1 or text.text.strip()
                script = wanted(text, history, installed) if has_text else None
            except ScriptError as error:
                if len(files) == 1:
                    raise
                unread[str(file)] = str(error).removeprefix(f"{file}: ")
            else:
                if script is None:
                    others.append(str(file))
                else:
                    found.append(script)
    if not found and not unread:
        named = str(files[0]) if len(files) == 1 else f"none of {len(files)} scripts"
        libraries = ", ".join(history.libraries)
        verb = "names none of the libraries" if len(files) == 1 else "names any of the libraries"
        raise ScriptError(f"{named} {verb} that patchkit knows: {libraries}{_instead(files)}")
    needs = [need for script in found for need in script.needs if need.possible]
    chosen = best(needs, installed)
    due: tuple[Patch, ...] = ()
    if without_bfloat16 and chosen is not None:
        due = tuple(due_in_float16(SESSION.catalogue, chosen.versions))
    return Examined(
        tuple(found),
        unread,
        tuple(others),
        chosen,
        () if chosen else apart(needs),
        without_bfloat16,
        due,
    )
