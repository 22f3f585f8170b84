"""Check the requirements that installed libraries have by their own metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_

from packaging.specifiers import SpecifierSet

from ...environment import canonical
from ...reporting.pins import Pin, Pins, admits, pip_install
from ...text import short_list
from .section import Section, SectionRow, Step
from .versions import installed_libraries

NAME, TITLE = "requirements", "Requirements that are not met"

_SHOWN = 4


def unmet(libraries: Iterable[str], pins: Pins) -> Iterator[Pin]:
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
                yield pin
            if pin.name in pins.installed and pin.name not in queue:
                queue.append(pin.name)


def check(pins: Pins) -> Section:
    libraries = installed_libraries()
    found = list({(str(pin), pin.by_extra): pin for pin in unmet(libraries, pins)}.values())
    wants: dict[str, list[str]] = {}
    for pin in found:
        by = f"{pin.by.name} {pin.by.version}"
        wants.setdefault(by, []).append(f"{pin.wanted} ({_present(pin, pins) or 'absent'})")
    rows = [
        SectionRow(name, short_list(texts, _SHOWN), alarming=True) for name, texts in wants.items()
    ]
    facts = [
        {
            "by": pin.by.name,
            "version": pin.by.version,
            "requirement": pin.wanted,
            "found": _present(pin, pins),
            "by_extra": pin.by_extra,
        }
        for pin in found
    ]
    nothing = "None." if libraries else "No library is installed."
    return Section.of(NAME, TITLE, [*rows, *_steps(found, pins)], facts, nothing=nothing)


def _steps(found: list[Pin], pins: Pins) -> Iterator[Step]:
    # What pip is about to replace may require other things then.
    stays = [pin for pin in found if not _moves(pin.by.name, pins)] or found
    apart = {pin.name for pin in stays if not admits(_together(pins.by_name[pin.name]))}
    for name in sorted(apart):
        wants = "; ".join(
            dict.fromkeys(str(pin) for pin in pins.by_name[name] if pin.requirement.specifier)
        )
        yield Step(
            f"No version of {name} is all that is required: {wants}. One of them needs an "
            "environment of its own, or another release.",
            wrong=True,
        )
    fixable = [pin for pin in stays if pin.name not in apart]
    if not fixable:
        return
    wrong = [f"{pin}: {_state(_present(pin, pins))}" for pin in fixable]
    also = f"; {len(found) - 2} more below" if len(found) > 2 else ""
    yield Step(
        f"Requirements are not met. {'; '.join(wrong[:2])}{also}. pip finds versions that fit "
        "together, or says that there are none.",
        (pip_install(dict.fromkeys(pin.wanted for pin in fixable)),),
        wrong=True,
    )


def _moves(name: str, pins: Pins) -> bool:
    """Tell whether pip must replace a distribution for one that has no need to be replaced."""
    return any(
        all(pins.is_met(above.requirement) for above in pins.by_name.get(pin.by.name, ()))
        for pin in pins.by_name.get(name, ())
        if not pins.is_met(pin.requirement)
    )


def _together(pins: Iterable[Pin]) -> SpecifierSet:
    return reduce(and_, (pin.requirement.specifier for pin in pins), SpecifierSet())


def _present(pin: Pin, pins: Pins) -> str | None:
    present = pins.installed.get(pin.name)
    return present.version if present else None


def _state(version: str | None) -> str:
    return f"{version} is installed" if version else "it is not installed"
