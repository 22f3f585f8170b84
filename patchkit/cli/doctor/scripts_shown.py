"""What scripts want, in rows and steps for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from ...legacy.wording import release
from ...scripts.wanted import Verdict, Wanted
from ...scripts.wanted.lacking import Fate, Lacking
from ...scripts.wanted.needs import Need
from ...scripts.wanted.ranges import Range
from ...text import plural, short_list
from .commands import pip_install
from .scripts import Examined
from .section import Row, Section, Step

_RUNS = {
    Verdict.AS_IT_IS: "as it is, as far as names tell",
    Verdict.WITH_THE_LAYER: "with the legacy layer only",
    Verdict.NOT: "not",
}
_FATES = {
    Fate.MENDED: "changed",
    Fate.GONE: "gone for good",
    Fate.NEWER: "newer",
    Fate.UNKNOWN: "not known",
}
_OTHERS_SHOWN = 3


def sections(examined: Examined) -> Iterator[Section]:
    """Yield a section for each script, and one for those that could not be read."""
    for it in examined.wanted:
        yield Section(it.name, it.name, tuple(_rows(it)))
    rows = [Row("", f"{name}: {reason}", alarming=True) for name, reason in examined.unread.items()]
    if rows:
        yield Section("unread", "Not read", tuple(rows))
    if examined.others:
        named = short_list(examined.others, shown=_OTHERS_SHOWN)
        row = Row("", f"{plural(len(examined.others), 'script')}: {named}")
        yield Section("others", "Name none of the libraries", (row,))
    if examined.due:
        due = tuple(Row("", f"{it.id}: {it.title}") for it in examined.due)
        yield Section("due", "Due without bfloat16, with that set of versions", due)


def _rows(it: Wanted) -> Iterator[Row]:
    for found in it.ranges:
        title = release(f"{found.library} ").strip()
        yield Row(title, _released(found), alarming=not found.releases)
        yield from (Row("", text) for text in _bounds(found))
    yield Row("runs here", _RUNS[it.verdict], alarming=it.verdict is Verdict.NOT)
    for fate, label in _FATES.items():
        told = [found for found in it.lacking if found.fate is fate]
        for number, found in enumerate(told):
            yield Row("" if number else label, _lacking(found), alarming=fate is not Fate.MENDED)
    for number, change in enumerate(it.silent):
        place = f"cell {change.cell}, line {change.line}" if change.cell else f"line {change.line}"
        doubt = "" if change.surely else " (if it was written for a release before that)"
        yield Row("" if number else "other results", f"{place}: {change.what}: {change.text}{doubt}")
    for number, reason in enumerate(it.unread):
        yield Row("" if number else "not read", reason)


def _released(found: Range) -> str:
    if not found.releases:
        return "no release has all that it names"
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


def _lacking(found: Lacking) -> str:
    return f"{found.need.place}: `{found.need.what}` {found.text}"


def steps(examined: Examined) -> Iterator[Step]:
    """Yield what to do about scripts that do not run as they are."""
    layer = [it.name for it in examined.wanted if it.verdict is Verdict.WITH_THE_LAYER]
    broken = [it.name for it in examined.wanted if it.verdict is Verdict.NOT]
    if layer:
        yield Step(
            f"{_names(layer)} with the legacy layer, or written anew.",
            (
                f"patchkit run --legacy -- python {shlex.quote(layer[0])}",
                f"patchkit modernize --diff {shlex.quote(layer[0])}",
            ),
            wrong=True,
        )
    if broken:
        do = (pip_install(_pins(examined)),) if examined.chosen else ()
        advice = (
            "These versions have all that was named, and were run together."
            if examined.chosen
            else _no_set(examined)
        )
        yield Step(f"{_names(broken, 'not run here')}. {advice}", do, wrong=True)


def _pins(examined: Examined) -> Iterable[str]:
    assert examined.chosen is not None
    return (f"{name}=={version}" for name, version in examined.chosen.versions.items())


def _names(scripts: list[str], verb: str = "run here") -> str:
    only = f"{scripts[0]} {verb.replace('run', 'runs')}" if verb == "run here" else ""
    if len(scripts) == 1:
        return only or f"{scripts[0]} does {verb}"
    named = short_list(scripts, shown=_OTHERS_SHOWN)
    return f"{named} {'do ' if verb != 'run here' else ''}{verb}"


def _no_set(examined: Examined) -> str:
    """Say why there is no set of versions."""
    return no_set(examined.apart)


def no_set(apart: tuple[Need, ...]) -> str:
    """Say what keeps any measured set from having all that was named."""
    if len(apart) == 1:
        return f"No set of versions that was run has {_at(apart[0])}."
    if apart:
        return (
            f"No set of versions that was run has both {_at(apart[0])}, and {_at(apart[1])}; "
            "use one of them, or run the scripts apart."
        )
    return "No set of versions that was run has all that was named; no two names alone are at fault."
