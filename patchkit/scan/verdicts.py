"""What the facts of a release mean for each patch: just what `apply()` would come to there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..environment import in_range
from ..patch import Change, Patch, Rewrite
from ..rewrite import Target
from .facts import Facts, Found
from .questions import Question, Questions

if TYPE_CHECKING:
    from ..matrix import Scan


@dataclass(frozen=True)
class Verdict:
    """What is so of one patch in one release.

    Args:
        state: one of `patchkit.matrix.STATES`.
        notes: what drifted, or where sites stand.
        unlisted: functions with a site that no change of the patch names.
    """

    state: str
    notes: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """A function with sites, in its module."""

    module: str
    found: Found

    def __str__(self) -> str:
        return f"{self.module}:{self.found.qualname}"


def scan_of(
    library: str, version: str, modules: Mapping[str, Facts], questions: Questions, note: str = ""
) -> Scan:
    """The verdicts on all patches in one release.

    Args:
        library: the distribution.
        version: its release.
        modules: the facts of each of its modules.
        questions: what was asked of them.
        note: what is to be said of the release as a whole.
    """
    from ..matrix import Scan
    from ..matrix.records import OF_THE_RELEASE

    verdicts = {one.id: verdict(one, version, modules, questions) for one in questions.patches}
    notes = {patch: "; ".join(one.notes) for patch, one in verdicts.items() if one.notes}
    unread = [f"{name} was not read: {it.unread}" for name, it in modules.items() if it.unread]
    if of_the_release := "; ".join(filter(None, [note, *unread])):
        notes[OF_THE_RELEASE] = of_the_release
    return Scan(
        library,
        version,
        date.today().isoformat(),
        {patch: one.state for patch, one in verdicts.items()},
        notes,
        {patch: one.unlisted for patch, one in verdicts.items() if one.unlisted},
    )


def verdict(
    patch: Patch, version: str, modules: Mapping[str, Facts], questions: Questions
) -> Verdict:
    """What is so of one patch in one release."""
    asked = questions.of(patch)
    due = [one for one in asked if _is_due(patch, one.change, version)]
    rules = {one.rule for one in asked}
    places = [
        Place(module, found)
        for module, facts in modules.items()
        for found in facts.found
        if found.rule in rules
    ]
    # Without what the edited code needs, torch say, a function is no target: Flax models are none.
    left = [
        one
        for one in places
        if not (one.found.lacks or _named(one, due) or _does_no_harm(one, patch, version))
    ]
    known = [one for one in left if _named(one, asked)]
    unlisted = sorted({str(one) for one in left} - {str(one) for one in known})
    here = [f"a site is in {place}" for place in sorted(set(map(str, left)))]
    if due:
        problems = list(_problems(due, places, modules))
        if problems:
            return Verdict("drifted", problems, unlisted)
        if known:
            noted = sorted({f"not due there, and a site is in {one}" for one in known})
            return Verdict("present", noted, unlisted)
        return Verdict("matches", [], unlisted)
    if not any(isinstance(one.change, Rewrite) for one in asked):
        return Verdict("no-anchor")
    if left:
        return Verdict("present", here, unlisted)
    return Verdict("harmless" if places else "absent")


def _is_due(patch: Patch, change: Change, version: str) -> bool:
    ranges = [patch.affects[patch.library], change.affects]
    return all(in_range(version, one) for one in ranges if one)


def _does_no_harm(place: Place, patch: Patch, version: str) -> bool:
    for text, versions in patch.harmless.items():
        target = Target.parse(text)
        there = fnmatchcase(place.module, target.module)
        if there and target.matches_qualname(place.found.qualname):
            return in_range(version, versions)
    return False


def _named(place: Place, questions: list[Question]) -> bool:
    """Whether one of these changes edits that function by that rule."""
    return any(
        one.rule == place.found.rule
        and one.names(place.module, place.found.qualname)
        and not (one.target.is_glob and place.found.lacks)
        for one in questions
    )


def _problems(
    due: list[Question], places: list[Place], modules: Mapping[str, Facts]
) -> Iterator[str]:
    """Why `apply()` would report drift."""
    found_any = False
    for one in due:
        its = [place for place in places if _named(place, [one])]
        found_any |= bool(its) or not one.target.is_glob
        if not one.target.is_glob:
            missing = _missing(one, modules)
            if missing or not isinstance(one.change, Rewrite):
                yield from [f"{one.target}: {missing}"] if missing else ()
                continue
            if not its:
                yield f"{one.target} has no site of this bug where {_known(one.change)} is known"
        yield from _unfit(one.change, its)
    if not found_any:
        yield "none of its wildcards finds a site"


def _missing(question: Question, modules: Mapping[str, Facts]) -> str:
    facts = modules.get(question.target.module)
    if facts is None:
        return f"there is no module {question.target.module}"
    return facts.targets[question.key]


def _unfit(change: Change, places: list[Place]) -> Iterator[str]:
    for place in places:
        found = place.found
        if found.lacks:
            yield f"{place.module} does not import {', '.join(found.lacks)} any more"
        elif found.problem:
            yield f"{place}: {found.problem}"
        elif isinstance(change, Rewrite) and change.sites and found.sites != change.sites:
            known = _known(change)
            yield f"{place} has {found.sites} sites of this bug where {known} is known"


def _known(change: Rewrite) -> str:
    return str(change.sites or "at least 1")
