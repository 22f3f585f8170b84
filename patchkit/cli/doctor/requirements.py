"""Check the requirements that installed libraries have by their own metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ...environment import canonical, installed_version
from ...reporting.pins import Pins, admits, pip_install
from ...text import short_list
from .section import Section, SectionRow, Step
from .versions import installed_libraries

NAME, TITLE = "requirements", "Requirements that are not met"

_SHOWN = 4


@dataclass(frozen=True)
class Unmet:
    """A requirement that does not hold.

    Args:
        by: the distribution that requires it.
        version: its version.
        requirement: such as `transformers>=4.56`.
        found: the installed version; None if there is none.
        by_extra: whether it belongs to an extra, for which another distribution asks.
    """

    by: str
    version: str
    requirement: str
    found: str | None
    by_extra: bool = False

    def __str__(self) -> str:
        return f"{self.requirement} ({self.found or 'absent'})"


def unmet(libraries: Iterable[str], pins: Pins) -> Iterator[Unmet]:
    """Yield the requirements of libraries, and of what they require, that do not hold.

    One of an extra counts where an installed distribution asks for that extra. Nothing records
    which extras a user asked for.
    """
    queue = list(dict.fromkeys(map(canonical, libraries)))
    for name in queue:  # which grows
        for pin in pins.all:
            if pin.by.name != name:
                continue
            if not pins.is_met(pin.requirement):
                text = f"{pin.requirement.name}{pin.requirement.specifier}"
                found = installed_version(pin.requirement.name)
                yield Unmet(name, pin.by.version, text, found, pin.by_extra)
            if pin.name in pins.installed and pin.name not in queue:
                queue.append(pin.name)


def check(pins: Pins) -> Section:
    libraries = installed_libraries()
    requirements = list(dict.fromkeys(unmet(libraries, pins)))
    by: dict[str, list[Unmet]] = {}
    for requirement in requirements:
        by.setdefault(f"{requirement.by} {requirement.version}", []).append(requirement)
    rows = [
        SectionRow(name, short_list(map(str, wants), _SHOWN), alarming=True)
        for name, wants in by.items()
    ]
    if not rows:
        rows = [SectionRow("", "None." if libraries else "No library is installed.")]
    facts = [vars(requirement) for requirement in requirements]
    return Section(NAME, TITLE, tuple(rows), facts, tuple(_steps(requirements, pins)))


def _steps(requirements: list[Unmet], pins: Pins) -> Iterator[Step]:
    # What pip is about to replace may require other things then.
    stays = [unmet for unmet in requirements if not _moves(unmet.by, pins)] or requirements
    names = {unmet.requirement: _name(unmet) for unmet in stays}
    apart = {
        name
        for name in names.values()
        if not admits(_together(pin.requirement.specifier for pin in pins.by_name[name]))
    }
    for name in sorted(apart):
        wants = "; ".join(
            dict.fromkeys(str(pin) for pin in pins.by_name[name] if pin.requirement.specifier)
        )
        yield Step(
            f"No version of {name} is all that is required: {wants}. One of them needs an "
            "environment of its own, or another release.",
            wrong=True,
        )
    fixable = [unmet for unmet in stays if names[unmet.requirement] not in apart]
    if not fixable:
        return
    wrong = [
        f"{unmet.by} {unmet.version} requires {unmet.requirement}: {_state(unmet)}"
        for unmet in fixable
    ]
    also = f"; {len(requirements) - 2} more below" if len(requirements) > 2 else ""
    yield Step(
        f"Requirements are not met. {'; '.join(wrong[:2])}{also}. pip finds versions that fit "
        "together, or says that there are none.",
        (pip_install(dict.fromkeys(unmet.requirement for unmet in fixable)),),
        wrong=True,
    )


def _moves(name: str, pins: Pins) -> bool:
    """Tell whether pip must replace a distribution for one that has no need to be replaced."""
    return any(
        all(pins.is_met(above.requirement) for above in pins.by_name.get(pin.by.name, ()))
        for pin in pins.by_name.get(name, ())
        if not pins.is_met(pin.requirement)
    )


def _name(unmet: Unmet) -> str:
    return canonical(Requirement(unmet.requirement).name)


def _together(specifiers: Iterable[SpecifierSet]) -> SpecifierSet:
    return reduce(and_, specifiers, SpecifierSet())


def _state(unmet: Unmet) -> str:
    return f"{unmet.found} is installed" if unmet.found else "it is not installed"
