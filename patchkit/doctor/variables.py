"""The environment variables of patchkit that are set, and those that say nothing to it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .. import settings
from ..errors import UsageError
from ..selection import DISABLE_VARIABLE, switched_off
from ..session import SESSION
from .privacy import without_private_data
from .section import Row, Section, Step

NAME, TITLE = "variables", "Variables of patchkit"

_OURS = re.compile(r"patch[_-]?kit[_-]", re.IGNORECASE)
_FOLDERS = ("PATCHKIT_CACHE", "PATCHKIT_PATCHES", "PATCHKIT_WHEELS")
_OF_COMMANDS = "PATCHKIT_RUN"
"""What `patchkit run` gives its children begins so."""
_OF_THE_TESTS = ("PATCHKIT_TEST_PROCESSES",)


@dataclass(frozen=True)
class Variable:
    """A variable that is set.

    Args:
        name: of the variable.
        value: its value; empty where that is a folder, or nothing that patchkit knows.
        problem: what is wrong with it; empty where nothing is.
        meant: the name that was probably meant; empty where there is none like it.
    """

    name: str
    value: str = ""
    problem: str = ""
    meant: str = ""


def variables() -> Iterator[Variable]:
    """Those that are set and have the name of patchkit in theirs."""
    for name in sorted(os.environ):
        if _OURS.match(name):
            yield _looked_at(name, os.environ[name])


def _looked_at(name: str, value: str) -> Variable:
    offered = {setting.variable: setting for setting in SESSION.catalogue.settings}
    switches = {settings.variable_of(keyword): keyword for keyword in SESSION.catalogue.opt_ins}
    try:
        if name in offered:
            offered[name].check(value, f"the environment variable {name}")
        elif name == DISABLE_VARIABLE:
            switched_off(SESSION.catalogue)
        elif name in switches:
            settings.switched_on(switches[name])
        elif name in (*_FOLDERS, *_OF_THE_TESTS) or name.startswith(_OF_COMMANDS):
            return Variable(name)
        else:
            meant = _nearest(name, [*offered, DISABLE_VARIABLE, *switches, *_FOLDERS])
            return Variable(name, "", f"patchkit has no environment variable {name}", meant)
    except UsageError as error:
        problem = str(error).removeprefix("the environment variable ")
        return Variable(name, problem=without_private_data(problem))
    return Variable(name, without_private_data(value))


def _nearest(name: str, known: list[str]) -> str:
    """The variable whose name is most like this one after `PATCHKIT_`; empty where none is."""
    ends = [one.removeprefix("PATCHKIT_") for one in known]
    end = _OURS.sub("", name, count=1).upper().replace("-", "_")
    near = difflib.get_close_matches(end, ends, n=1)
    return f"PATCHKIT_{near[0]}" if near else ""


def check() -> Section:
    found = list(variables())
    rows = [
        Row(one.name, one.problem or one.value or "is set", alarming=bool(one.problem))
        for one in found
    ]
    steps = tuple(_step(one) for one in found if one.problem)
    if not rows:
        rows = [Row("", "None is set.")]
    facts = [vars(one) for one in found]
    return Section(NAME, TITLE, tuple(rows), facts, steps)


def _step(one: Variable) -> Step:
    what = one.problem
    if not what.endswith((".", "?")):
        what += "."
    if one.meant:
        what += f" {one.meant} is probably meant."
        return Step(what, (f'export {one.meant}="${one.name}"\nunset {one.name}',), wrong=True)
    return Step(what, (f"unset {one.name}",), wrong=True)
