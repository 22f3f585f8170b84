"""What of a script the installed releases lack, and what the legacy layer does about that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...legacy.decisions import UNKNOWN, decide_read, decide_value
from ...legacy.versions.due import Due
from ...legacy.wording import release, since
from ...text import TextEnum
from ..python.standin import Expression, Standin, decided, known_value
from ..reading.kinship import ancestors
from ..reading.script import ScriptAttribute, ScriptCall
from .needs import Need, rows_for


class Fate(TextEnum):
    """What the legacy layer does about something that the installed releases lack."""

    FIXED = "fixed"
    """It understands it."""
    GONE = "gone"
    """It has no counterpart any more."""
    NEWER = "newer"
    """It came with a release after the installed one."""
    UNKNOWN = "unknown"
    """No release that was read has it, or nothing is known of it."""


@dataclass(frozen=True)
class Lacking:
    """Something that a script names and the installed releases lack.

    Args:
        fate: what the legacy layer does about it.
        text: a sentence without its beginning: since when, and what to do.
    """

    need: Need
    fate: Fate
    text: str


def lacking(
    needs: Iterable[Need], installed: Mapping[str, str], due: Due, known: Mapping[str, str]
) -> Iterator[Lacking]:
    """Yield what the installed releases lack, in the order of the script.

    Args:
        needs: what the script names.
        installed: library to the installed release.
        due: the rows of the table for the installed releases.
        known: library to the release that stands for the installed one in the history.
    """
    needs = list(needs)
    names = {need.what for need in needs}
    for need in needs:
        if _goes_with_another(need, names, due):
            continue
        by_table = _by_table(need, due)
        if by_table is not None:
            fate, text, is_surely_old = by_table
            if is_surely_old or not need.holds(known):
                yield Lacking(need, fate, text)
        elif not need.holds(known):
            yield _lacking(need, installed)


def _goes_with_another(need: Need, names: Collection[str], due: Due) -> bool:
    """Tell whether its class is gone or its module moved, and that is said."""
    subject = need.subject
    if isinstance(subject, ScriptCall):
        found = due.places.find(subject.name)
        return found is not None and found.is_gone and subject.name in names
    if isinstance(subject, ScriptAttribute):
        return False
    found = due.places.find(need.what)
    return found is not None and found.row.name != need.what and found.row.name in names


def _by_table(need: Need, due: Due) -> tuple[Fate, str, bool] | None:
    """Return what the table says; None if it says nothing.

    The last part tells whether that holds even if the installed release has such a name.
    """
    if isinstance(need.subject, ScriptCall):
        return _of_call(need, need.subject, due)
    if isinstance(need.subject, ScriptAttribute):
        return _of_attribute(need.subject, due)
    found = due.places.find(need.what) or due.places.inside(need.what)
    if found is None:
        return None
    return *_told(since(found.row), found.advice, found.refusal), False


def _of_call(need: Need, call: ScriptCall, due: Due) -> tuple[Fate, str, bool] | None:
    rows = rows_for(call, due)
    value = UNKNOWN if need.given is None else known_value(need.given)
    row = rows.keywords.get(need.keyword)
    if row is not None:
        others = {
            name: Expression(name) if (other := known_value(each)) is UNKNOWN else other
            for name, each in call.keywords.items()
            if name != need.keyword
        }
        is_method = call.method not in ("", "__init__")
        old = others.keys() if is_method else others.keys() & rows.keywords.keys()
        standin = Standin(others, old, _configuration(call.name))
        decision, _ = decided(row, value, standin)
        return *_told(since(row), decision.advice, decision.refusal), not row.early
    for old_value in rows.values if not need.what.endswith("=)") else ():
        renamed = decide_value(old_value, value) if old_value.name == need.keyword else None
        if renamed is not None:
            return *_told(since(old_value), renamed.advice, renamed.refusal), True
    return None


def _configuration(trainer: str) -> str:
    """Return the name of the configuration that a trainer takes."""
    library, _, name = trainer.rpartition(".")
    return f"{name.removesuffix('Trainer')}Config" if library[:3] == "trl" else "TrainingArguments"


def _of_attribute(attribute: ScriptAttribute, due: Due) -> tuple[Fate, str, bool] | None:
    row = due.attributes(ancestors(attribute.owner)).get(attribute.name)
    if row is None:
        return None
    decision = decide_read(row)
    return *_told(since(row), decision.advice, decision.refusal), False


def _told(begin: str, advice: str, refusal: str) -> tuple[Fate, str]:
    if refusal:
        return Fate.GONE, f"{begin}. {refusal}"
    return Fate.FIXED, f"{begin}; {advice}"


def _lacking(need: Need, installed: Mapping[str, str]) -> Lacking:
    absent = [
        library
        for library in dict.fromkeys(name for together in need.possible for name in together)
        if library not in installed
    ]
    if absent:
        return Lacking(need, Fate.NEWER, f"needs {', '.join(absent)}, which is not installed")
    newer = _newer(need, installed)
    if newer:
        return Lacking(need, Fate.NEWER, f"came with {newer}")
    if need.possible:
        return Lacking(need, Fate.UNKNOWN, "is not in the installed release")
    return Lacking(need, Fate.UNKNOWN, "is in no release that was read; is it spelled right?")


def _newer(need: Need, installed: Mapping[str, str]) -> str:
    """Return the first release that has something, if it is newer than the installed one."""
    from packaging.version import Version

    for together in need.possible:
        for library, releases in together.items():
            first = min(releases, key=Version)
            if Version(first) > Version(installed[library]):
                return release(f"{library} {first}")
    return ""
