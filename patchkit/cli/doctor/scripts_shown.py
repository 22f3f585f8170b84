"""Show what scripts want, as rows and steps for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from ...legacy.wording import LEAVE_OUT, release
from ...modernize.findings import ScriptFinding
from ...modernize.wanted import ScriptVerdict, ScriptWants
from ...modernize.wanted.lacking import Fate
from ...modernize.wanted.needs import Need
from ...modernize.wanted.ranges import Range
from ...reporting.pins import pip_install
from ...text import plural, short_list
from .scripts import Examined
from .section import Section, SectionRow, Step

_RUNS = {
    ScriptVerdict.AS_IT_IS: "as it is, as far as names tell",
    ScriptVerdict.WITH_THE_LAYER: "with the legacy layer only",
    ScriptVerdict.NOT: "not",
}
_FATES = {
    Fate.GONE: "gone for good",
    Fate.UNKNOWN: "not known",
    Fate.NEWER: "newer",
    Fate.FIXED: "changed",
}
"""What keeps a script from running comes first."""
_SILENT = {True: "other results", False: "perhaps"}
"""Whether it is certain that the script is from before a change, to the label."""
_OTHERS_SHOWN = 3
_WITH = "with "


def sections(examined: Examined) -> Iterator[Section]:
    """Yield a section for each script, and one for those that could not be read."""
    for script in examined.wanted:
        yield Section(script.name, script.name, tuple(_rows(script)))
    rows = [
        SectionRow("", f"{name}: {reason}", alarming=True)
        for name, reason in examined.unread.items()
    ]
    if rows:
        yield Section("unread", "Not read", tuple(rows))
    if examined.others:
        named = short_list(examined.others, shown=_OTHERS_SHOWN)
        row = SectionRow("", f"{plural(len(examined.others), 'script')}: {named}")
        yield Section("others", "Name none of the libraries", (row,))
    if examined.due:
        due = tuple(SectionRow("", f"{patch.id}: {patch.title}") for patch in examined.due)
        yield Section("due", "Due without bfloat16, with that set of versions", due)


def _rows(script: ScriptWants) -> Iterator[SectionRow]:
    for found in script.ranges:
        title = release(f"{found.library} ").strip()
        yield SectionRow(title, _released(found), alarming=not found.releases)
        yield from (SectionRow("", text) for text in _bounds(found))
    if script.of_unsloth:
        yield SectionRow("Unsloth", "its trainers and configurations take what TRL's ever took")
    yield SectionRow(
        "runs here", _RUNS[script.verdict], alarming=script.verdict is ScriptVerdict.NOT
    )
    for fate, label in _FATES.items():
        lacking = _told_once(
            (lack.need.place, f"`{lack.need.what}`", f" {lack.text}")
            for lack in script.lacking
            if lack.fate is fate
        )
        yield from _below(label, lacking, alarming=fate is not Fate.FIXED)
    combined = sorted(script.combined, key=lambda old: (old.cell, old.line))
    told = _told_once((old.place, f"`{old.old}`", f": {_advice(old)}") for old in combined)
    yield from _below("also changed", told)
    for surely, label in _SILENT.items():
        texts: dict[str, list[str]] = {}
        for change in script.silent:
            if change.surely is surely:
                texts.setdefault(f"{change.place}: {change.what}", []).append(change.text)
        yield from _below(label, (f"{call}: {'; '.join(told)}" for call, told in texts.items()))
    yield from _below("not read", script.unread)


def _below(label: str, texts: Iterable[str], *, alarming: bool = False) -> Iterator[SectionRow]:
    """Yield a row for each text; only the first has the label."""
    for number, text in enumerate(texts):
        yield SectionRow("" if number else label, text, alarming)


def _told_once(found: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield one text for a name at several places, and for several names at the same ones."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for place, name, text in found:
        places.setdefault((name, text), {})[place] = None
    names: dict[tuple[str, str], list[str]] = {}
    for (name, text), several in places.items():
        names.setdefault((", ".join(several), text), []).append(name)
    for (place, text), alike in names.items():
        if len(alike) > 1:
            text = text.replace(" has been", " have been", 1).replace("leave it", "leave them", 1)
        yield f"{place}: {', '.join(alike)}{text}"


def _advice(old: ScriptFinding) -> str:
    if not old.new or "; write " in old.because:
        return old.because
    if old.new == LEAVE_OUT:
        return f"{old.because}; {old.new}"
    if old.new.startswith(_WITH):
        return f"{old.because}; write it {_WITH}`{old.new.removeprefix(_WITH)}`"
    return f"{old.because}; write `{old.new}`"


def _released(found: Range) -> str:
    if not found.releases:
        return "no release has all that it names"
    if len(found.runs) > 1:
        return ", ".join(
            first if first == last else f"{first} to {last}" for first, last in found.runs
        )
    if found.first_by is None and found.last_by is None:
        return f"any release, {found.first} to {found.last}"
    if found.last_by is None:
        return f"{found.first} and later"
    if found.first_by is None:
        return f"up to {found.last}"
    return found.first if found.first == found.last else f"{found.first} to {found.last}"


def _bounds(found: Range) -> Iterator[str]:
    if found.first_by is not None:
        yield f"{found.first} is the first with {_at(found.first_by)}"
    if found.last_by is not None:
        yield f"{found.last} is the last with {_at(found.last_by)}"
    if found.apart:
        yield f"no release has both {' and '.join(map(_at, found.apart))}"


def _at(need: Need) -> str:
    return f"`{need.what}`, {need.place}"


def steps(examined: Examined) -> Iterator[Step]:
    """Yield what to do about scripts that do not run as they are."""
    layer = [
        script.name for script in examined.wanted if script.verdict is ScriptVerdict.WITH_THE_LAYER
    ]
    broken = [script.name for script in examined.wanted if _wants_other_versions(script)]
    unknown = [
        (script.name, lack.need)
        for script in examined.wanted
        for lack in script.lacking
        if lack.fate is Fate.UNKNOWN
    ]
    if unknown:
        named = short_list(dict.fromkeys(name for name, _ in unknown), shown=_OTHERS_SHOWN)
        needs = short_list((_at(need) for _, need in unknown), shown=_OTHERS_SHOWN)
        what = f"No release that was read has what {named} names: {needs}."
        yield Step(f"{what} Correct the spelling.", wrong=True)
    if broken:
        what = f"What is installed cannot run {short_list(broken, shown=_OTHERS_SHOWN)}."
        if examined.chosen is None:
            yield Step(f"{what} {no_set(examined.apart)}", wrong=True)
        else:
            pins = (f"{name}=={version}" for name, version in examined.chosen.versions.items())
            what_else = "all else" if unknown else "all"
            with_it = f"A set that was run together has {what_else} that is named"
            with_it += "; --constraints FILE writes it."
            yield Step(f"{what} {with_it}", (pip_install(pins),), wrong=True)
    if layer:
        first = shlex.quote(layer[0])
        yield Step(
            f"What is installed runs {short_list(layer, shown=_OTHERS_SHOWN)} with the legacy "
            "layer, or rewritten.",
            (f"patchkit run --legacy -- python {first}", f"patchkit modernize --diff {first}"),
            wrong=True,
        )


def _wants_other_versions(script: ScriptWants) -> bool:
    """Tell whether a script cannot run here for a reason other than unknown names."""
    left = [lack for lack in script.lacking if lack.fate is not Fate.FIXED]
    only_unknown = bool(left) and all(lack.fate is Fate.UNKNOWN for lack in left)
    return script.verdict is ScriptVerdict.NOT and not only_unknown


def no_set(apart: tuple[Need, ...]) -> str:
    """Say what keeps any measured set from having all that is named."""
    if len(apart) == 1:
        return f"No set of versions that was run has {_at(apart[0])}."
    if apart:
        return (
            f"No set of versions that was run has both {_at(apart[0])}, and {_at(apart[1])}; use "
            "only one of them."
        )
    return "No set of versions that was run has all that is named, though each two names have one."
