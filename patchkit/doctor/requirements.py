"""What installed libraries require by their own metadata and do not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..environment import installed_version
from ..matrix.records import public
from ..wording import listed
from .commands import pip_install
from .section import Row, Section, Step
from .versions import installed

NAME, TITLE = "requirements", "Requirements that are not met"

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_SHOWN = 4
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class Unmet:
    """A requirement that does not hold.

    Args:
        by: the distribution that has it.
        version: its version.
        requirement: such as `transformers>=4.56`.
        found: the version that is installed; None where there is none.
        by_extra: an extra names it, which pip does not know to be in use.
    """

    by: str
    version: str
    requirement: str
    found: str | None
    by_extra: bool = False

    def __str__(self) -> str:
        return f"{self.requirement} ({self.found or 'absent'})"


def unmet(libraries: Iterable[str]) -> Iterator[Unmet]:
    """The requirements of libraries, and of what they require in turn, that do not hold.

    Nobody writes down which extras were asked for. One that is named after a library which is
    installed counts for what is installed: Transformers names in its extra `torch` the Accelerate
    that it wants, and refuses an older one.
    """
    from importlib import metadata

    waiting = [(name, frozenset[str]()) for name in libraries]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop(0)
        version = installed_version(name) or ""
        for text in metadata.requires(name) or ():
            wanted = _wanted(text, extras)
            if wanted is None:
                continue
            found = installed_version(wanted.name)
            if found is None or not wanted.specifier.contains(found, prereleases=True):
                by_extra = bool(_extras(text)) and not _extras(text) & extras
                requirement = f"{wanted.name}{wanted.specifier}"
                yield Unmet(name, version, requirement, found, by_extra)
            following = (wanted.name.lower().replace("_", "-"), frozenset(wanted.extras))
            if found is not None and following not in seen:
                seen.add(following)
                waiting.append(following)


def _wanted(text: str, extras: frozenset[str]) -> Requirement | None:
    """A requirement as it counts here; None where it does not count."""
    from packaging.requirements import InvalidRequirement, Requirement

    named = _extras(text)
    asked = named & extras
    used = {extra for extra in named if installed_version(extra)} - asked
    if named and not asked and not used:
        return None
    try:
        wanted = Requirement(text)
    except InvalidRequirement:  # metadata from before there were rules
        return None
    if wanted.marker is None:
        return wanted
    if any(
        wanted.marker.evaluate({"extra": extra}) for extra in asked or (set() if named else {""})
    ):
        return wanted
    if installed_version(wanted.name) and any(
        wanted.marker.evaluate({"extra": extra}) for extra in used
    ):
        return wanted
    return None


def _extras(text: str) -> set[str]:
    """The extras that a requirement belongs to."""
    return set(_EXTRA.findall(text))


def check() -> Section:
    libraries = installed()
    found = list(dict.fromkeys(unmet(libraries)))
    by: dict[str, list[Unmet]] = {}
    for one in found:
        by.setdefault(f"{one.by} {one.version}", []).append(one)
    rows = [Row(name, listed(map(str, wants), _SHOWN), alarming=True) for name, wants in by.items()]
    if not rows:
        rows = [Row("", "None." if libraries else "There is no library to ask.")]
    facts = [vars(one) for one in found]
    return Section(NAME, TITLE, tuple(rows), facts, _steps(found))


def _steps(found: list[Unmet]) -> tuple[Step, ...]:
    if not found:
        return ()
    pins = dict.fromkeys(
        one.requirement if one.by_extra else f"{one.by}=={public(one.version)}" for one in found
    )
    wrong = [f"{one.by} {one.version} requires {one.requirement}: {_state(one)}" for one in found]
    also = f"; {len(wrong) - 2} more below" if len(wrong) > 2 else ""
    return (
        Step(
            f"Requirements are not met. {'; '.join(wrong[:2])}{also}. pip finds versions that go "
            "together, or says that there are none.",
            (pip_install(pins),),
            wrong=True,
        ),
    )


def _state(one: Unmet) -> str:
    return f"{one.found} is installed" if one.found else "it is not installed"
