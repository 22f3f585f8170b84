"""Judge each patch by the facts of a release, as `apply()` would if the release were installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase

from ...environment import in_range
from ...patch import Change, Patch, Rewrite
from ...rewrite import Target
from ...rewrite.misfit import misfit
from ..records import OF_THE_RELEASE, Scan
from .facts import BuggyFunction, Facts
from .questions import Question, Questions


@dataclass(frozen=True)
class ScanVerdict:
    """The verdict on one patch in one release.

    Args:
        state: one of `STATES`.
        notes: what drifted, or where sites are.
        unlisted: functions with a site that no change of the patch names.
    """

    state: str
    notes: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ScanPlace:
    """A function with sites, in its module."""

    module: str
    function: BuggyFunction

    def __str__(self) -> str:
        return f"{self.module}:{self.function.qualname}"


def scan_of(
    library: str, version: str, modules: Mapping[str, Facts], questions: Questions, note: str = ""
) -> Scan:
    verdicts = {
        patch.id: verdict(patch, version, modules, questions) for patch in questions.patches
    }
    notes = {patch: "; ".join(judged.notes) for patch, judged in verdicts.items() if judged.notes}
    unread = [
        f"{name} was not read: {facts.unread}" for name, facts in modules.items() if facts.unread
    ]
    if of_the_release := "; ".join(filter(None, [note, *unread])):
        notes[OF_THE_RELEASE] = of_the_release
    return Scan(
        library,
        version,
        date.today().isoformat(),
        {patch: judged.state for patch, judged in verdicts.items()},
        notes,
        {patch: judged.unlisted for patch, judged in verdicts.items() if judged.unlisted},
    )


def verdict(
    patch: Patch, version: str, modules: Mapping[str, Facts], questions: Questions
) -> ScanVerdict:
    its_questions = questions.of(patch)
    due = [question for question in its_questions if _is_due(patch, question.change, version)]
    rules = {question.rule for question in its_questions}
    places = [
        ScanPlace(module, function)
        for module, facts in modules.items()
        for function in facts.functions
        if function.rule in rules
    ]
    # A function without what the edited code needs (torch, in Flax models) is no target.
    harmful = [
        place
        for place in places
        if not (
            place.function.missing or _is_named(place, due) or _is_harmless(place, patch, version)
        )
    ]
    in_targets = [place for place in harmful if _is_named(place, its_questions)]
    unlisted = sorted({str(place) for place in harmful} - {str(place) for place in in_targets})
    locations = [f"{place} has the bug" for place in sorted(set(map(str, harmful)))]
    if due:
        problems = list(_problems(due, places, modules))
        if problems:
            return ScanVerdict("drifted", problems, unlisted)
        if in_targets:
            notes = sorted({f"not claimed there, but {place} has the bug" for place in in_targets})
            return ScanVerdict("present", notes, unlisted)
        return ScanVerdict("matches", [], unlisted)
    if not any(isinstance(question.change, Rewrite) for question in its_questions):
        return ScanVerdict("no-anchor")
    if harmful:
        return ScanVerdict("present", locations, unlisted)
    return ScanVerdict("harmless" if places else "absent")


def _is_due(patch: Patch, change: Change, version: str) -> bool:
    ranges = [patch.affects[patch.library], change.affects]
    return all(in_range(version, versions) for versions in ranges if versions)


def _is_harmless(place: ScanPlace, patch: Patch, version: str) -> bool:
    return any(
        in_range(version, versions) and _is_in(place, Target.parse(text))
        for text, versions in patch.harmless.items()
    )


def _is_in(place: ScanPlace, target: Target) -> bool:
    in_module = fnmatchcase(place.module, target.module)
    return in_module and target.matches_qualname(place.function.qualname)


def _is_named(place: ScanPlace, questions: list[Question]) -> bool:
    """Tell whether one of these changes edits that function by that rule."""
    return any(
        question.rule == place.function.rule
        and question.names(place.module, place.function.qualname)
        and not (question.target.is_glob and place.function.missing)
        for question in questions
    )


def _problems(
    due: list[Question], places: list[ScanPlace], modules: Mapping[str, Facts]
) -> Iterator[str]:
    """Yield the reasons why `apply()` would report drift."""
    has_place = False
    for question in due:
        its_places = [place for place in places if _is_named(place, [question])]
        has_place |= bool(its_places) or not question.target.is_glob
        if not question.target.is_glob:
            missing = _missing(question, modules)
            if missing or not isinstance(question.change, Rewrite):
                yield from [f"{question.target}: {missing}"] if missing else ()
                continue
            if not its_places:
                module, sites = question.target.module, question.change.sites
                yield f"{question.target}: {misfit(module, (), 0, sites)}"
        yield from _misfits(question.change, its_places)
    if not has_place:
        yield "its wildcards match no function with this bug"


def _missing(question: Question, modules: Mapping[str, Facts]) -> str:
    facts = modules.get(question.target.module)
    if facts is None:
        return f"there is no module {question.target.module}"
    return facts.targets[question.key]


def _misfits(change: Change, places: list[ScanPlace]) -> Iterator[str]:
    for place in places:
        function = place.function
        expected = change.sites if isinstance(change, Rewrite) else None
        problem = function.problem or misfit(
            place.module, function.missing, function.sites, expected
        )
        if problem:
            yield f"{place}: {problem}"
