"""Check the environment variables of patchkit, and those that it does not know."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ... import settings
from ...catalogue.selection import DISABLE_VARIABLE, disabled_patches
from ...engine.session import SESSION
from ...errors import UsageError
from ...legacy import choice as legacy_choice
from ...legacy.versions.written_for import parse
from .privacy import without_private_data
from .section import Section, SectionRow, Step

NAME, TITLE = "variables", "Variables of patchkit"

_OURS = re.compile(r"patch[_-]?kit[_-]", re.IGNORECASE)
_FOLDERS = ("PATCHKIT_CACHE", "PATCHKIT_PATCHES", "PATCHKIT_WHEELS")
_LEGACY = "PATCHKIT_LEGACY"
_EXPLAIN = "PATCHKIT_EXPLAIN"
_OF_COMMANDS = "PATCHKIT_RUN"
"""Prefix of the variables that `patchkit run` passes to its children."""
_OF_THE_TESTS = ("PATCHKIT_TEST_PROCESSES",)


@dataclass(frozen=True)
class Variable:
    """A variable that is set, the problem with it, and the name that was probably meant instead.

    The value of folders and of unknown variables is left empty.
    """

    name: str
    value: str = ""
    problem: str = ""
    meant: str = ""


def variables() -> Iterator[Variable]:
    """Yield the variables that are set and whose names contain that of patchkit."""
    for name in sorted(os.environ):
        if _OURS.match(name):
            yield _variable(name, os.environ[name])


def _variable(name: str, value: str) -> Variable:
    known = {setting.variable: setting for setting in SESSION.catalogue.settings}
    switches = {settings.variable_name(keyword): keyword for keyword in SESSION.catalogue.opt_ins}
    try:
        if name in known:
            known[name].check(value, f"the environment variable {name}")
        elif name == DISABLE_VARIABLE:
            disabled_patches(SESSION.catalogue)
        elif name in switches:
            settings.is_switched_on(switches[name])
        elif name == _EXPLAIN:
            settings.is_switched_on("explain")
        elif name == _LEGACY:
            chosen = legacy_choice.from_environment()
            if isinstance(chosen, str):
                parse(chosen)
        elif name in (*_FOLDERS, *_OF_THE_TESTS) or name.startswith(_OF_COMMANDS):
            return Variable(name)
        else:
            names = [*known, DISABLE_VARIABLE, _LEGACY, _EXPLAIN, *switches, *_FOLDERS]
            meant = _nearest(name, names)
            return Variable(name, "", f"patchkit has no environment variable {name}", meant)
    except UsageError as error:
        problem = str(error).removeprefix("the environment variable ")
        return Variable(name, problem=without_private_data(problem))
    return Variable(name, without_private_data(value))


def _nearest(name: str, candidates: list[str]) -> str:
    """Return the most similar name after `PATCHKIT_`; empty if none is similar."""
    ends = [candidate.removeprefix("PATCHKIT_") for candidate in candidates]
    end = _OURS.sub("", name, count=1).upper().replace("-", "_")
    near = difflib.get_close_matches(end, ends, n=1)
    return f"PATCHKIT_{near[0]}" if near else ""


def check() -> Section:
    ours = list(variables())
    found: list[SectionRow | Step] = []
    for variable in ours:
        text = variable.problem or variable.value or "is set"
        found.append(SectionRow(variable.name, text, alarming=bool(variable.problem)))
        if variable.problem:
            found.append(_step(variable))
    facts = [vars(variable) for variable in ours]
    return Section.of(NAME, TITLE, found, facts, nothing="None is set.")


def _step(variable: Variable) -> Step:
    name, meant, problem = variable.name, variable.meant, variable.problem
    if not problem.endswith((".", "?")):
        problem += "."
    if not meant:
        return Step(problem, (f"unset {name}",), wrong=True)
    rename = f'export {meant}="${name}"\nunset {name}'
    return Step(f"{problem} {meant} is probably meant.", (rename,), wrong=True)
