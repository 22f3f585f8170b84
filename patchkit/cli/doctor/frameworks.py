"""Name the installed frameworks: distributions that require a library that patchkit fixes."""

from __future__ import annotations

from typing import Any

from ...engine.session import SESSION
from ...environment import Distribution, canonical, frameworks
from ...libraries import with_role
from ...reporting import advice
from ...reporting.pins import Pins
from ...reporting.status import DUE
from ...text import plural, short_list
from .section import Section, SectionRow

NAME, TITLE = "frameworks", "Frameworks"

_SHOWN = frozenset({*with_role("patched"), *with_role("needed")})


def check(pins: Pins) -> Section:
    """Say which frameworks are installed, what they pin, and what patchkit does there."""
    records = SESSION.report()
    due = [
        record.library
        for record in records
        if record.status in DUE and not advice.is_opt_in(record)
    ]
    rows: list[SectionRow] = []
    facts: list[dict[str, Any]] = []
    for name, framework in frameworks(pins.installed).items():
        required = [pin for pin in pins.all if pin.by == framework and pin.name in _SHOWN]
        wants = [pin.wanted for pin in required]
        libraries = {pin.name for pin in required}
        bugs = sum(canonical(library) in libraries for library in due)
        wanted = f"{framework.version}. Requires {short_list(wants, len(wants))}."
        own = sum(canonical(library) == name for library in due)
        rows.append(SectionRow(name, f"{wanted} {_does(framework, bugs, own)}"))
        facts.append(
            {
                "name": name,
                "version": framework.version,
                "requires": wants,
                "commands": list(framework.commands),
                "due": bugs,
                "due_of_its_own": own,
            }
        )
    return Section.of(NAME, TITLE, rows, facts, nothing="None is installed.")


def _does(framework: Distribution, bugs: int, own: int) -> str:
    """Say what patchkit does beside a framework and in it, and how to start it."""
    if not bugs + own:
        return "patchkit has nothing to fix in these."
    return (
        f"patchkit fixes {plural(bugs, 'bug')} of these, and {own or 'none'} of {framework.name} "
        "itself: "
        f"`patchkit run -- {_start(framework)}`."
    )


def usual_start() -> str:
    """Return how the framework that requires most is started, or else a script."""
    return next(map(_start, frameworks().values()), "python train.py")


def _start(framework: Distribution) -> str:
    """Return how a framework is started: by the command that is named like it, if there is one."""
    name = framework.name
    akin = [command for command in framework.commands if command in name or name in command]
    return next((f"{command} …" for command in (*akin, *framework.commands)), "python train.py")
