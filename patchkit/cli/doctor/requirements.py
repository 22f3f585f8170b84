"""Check the requirements that installed libraries have by their own metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...environment import installed_version, is_version
from ...matrix.records import public_version
from ...text import short_list
from .section import Section, SectionRow, Step, pip_install
from .versions import installed_libraries

NAME, TITLE = "requirements", "Requirements that are not met"

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_SHOWN = 4
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class Unmet:
    """A requirement that does not hold.

    Args:
        by: the distribution that requires it.
        version: its version.
        requirement: such as `transformers>=4.56`.
        found: the installed version; None if there is none.
        by_extra: whether it belongs to an extra, which pip does not know to be in use.
    """

    by: str
    version: str
    requirement: str
    found: str | None
    by_extra: bool = False

    def __str__(self) -> str:
        return f"{self.requirement} ({self.found or 'absent'})"


def unmet(libraries: Iterable[str]) -> Iterator[Unmet]:
    """Yield the requirements of libraries, and of what they require, that do not hold.

    No record says which extras were installed. One that has the name of an installed library
    counts for what is installed: Transformers names in its extra `torch` the Accelerate that it
    needs, and refuses an older one.
    """
    from importlib import metadata

    queue = [(name, frozenset[str]()) for name in libraries]
    seen = set(queue)
    while queue:
        name, extras = queue.pop(0)
        version = installed_version(name) or ""
        for text in metadata.requires(name) or ():
            requirement = _requirement(text, extras)
            if requirement is None:
                continue
            present = installed_version(requirement.name)
            is_unmet = present is None or (
                is_version(present)  # an unreadable version is reported once, with the versions
                and not requirement.specifier.contains(present, prereleases=True)
            )
            if is_unmet:
                by_extra = bool(_extras(text)) and not _extras(text) & extras
                text = f"{requirement.name}{requirement.specifier}"
                yield Unmet(name, version, text, present, by_extra)
            dependency = (requirement.name.lower().replace("_", "-"), frozenset(requirement.extras))
            if present is not None and dependency not in seen:
                seen.add(dependency)
                queue.append(dependency)


def _requirement(text: str, extras: frozenset[str]) -> Requirement | None:
    """Return a requirement if it counts here, else None."""
    from packaging.requirements import InvalidRequirement, Requirement

    belongs_to = _extras(text)
    requested = belongs_to & extras
    used = {extra for extra in belongs_to if installed_version(extra)} - requested
    if belongs_to and not requested and not used:
        return None
    try:
        requirement = Requirement(text)
    except InvalidRequirement:  # metadata older than the rules
        return None
    if requirement.marker is None:
        return requirement
    if any(
        requirement.marker.evaluate({"extra": extra})
        for extra in requested or (set() if belongs_to else {""})
    ):
        return requirement
    if installed_version(requirement.name) and any(
        requirement.marker.evaluate({"extra": extra}) for extra in used
    ):
        return requirement
    return None


def _extras(text: str) -> set[str]:
    """Return the extras that a requirement belongs to."""
    return set(_EXTRA.findall(text))


def check() -> Section:
    libraries = installed_libraries()
    requirements = list(dict.fromkeys(unmet(libraries)))
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
    return Section(NAME, TITLE, tuple(rows), facts, _steps(requirements))


def _steps(requirements: list[Unmet]) -> tuple[Step, ...]:
    if not requirements:
        return ()
    pins = dict.fromkeys(
        unmet.requirement if unmet.by_extra else f"{unmet.by}=={public_version(unmet.version)}"
        for unmet in requirements
    )
    wrong = [
        f"{unmet.by} {unmet.version} requires {unmet.requirement}: {_state(unmet)}"
        for unmet in requirements
    ]
    also = f"; {len(wrong) - 2} more below" if len(wrong) > 2 else ""
    return (
        Step(
            f"Requirements are not met. {'; '.join(wrong[:2])}{also}. pip finds versions that fit "
            "together, or says that there are none.",
            (pip_install(pins),),
            wrong=True,
        ),
    )


def _state(unmet: Unmet) -> str:
    return f"{unmet.found} is installed" if unmet.found else "it is not installed"
