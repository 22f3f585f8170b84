"""What one script wants: the releases that it is for, and whether it runs here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ...legacy.rows import all_rows
from ...legacy.versions.due import Due
from ...text import TextEnum
from ..findings import ScriptFinding, ScriptOutcome
from ..history import History
from ..python.configurations import ITSELF_BEFORE
from ..python.names import BY_THIS_NAME
from ..python.rewriting import planned
from ..reading import Script
from .lacking import Fate, Lacking, lacking
from .needs import Need, needs
from .ranges import Range, ranges
from .silent import ScriptSilentChange, silent
from .source import PythonText


class ScriptVerdict(TextEnum):
    """Whether a script runs on what is installed."""

    AS_IT_IS = "as it is"
    WITH_THE_LAYER = "with the legacy layer"
    NOT = "not"


@dataclass(frozen=True)
class ScriptWants:
    """What a script wants.

    Args:
        needs: what it names of the libraries.
        ranges: by library, the releases that have all of that.
        lacking: what the installed releases lack of it.
        combined: what is old beside names and keywords: combinations of arguments, columns of
            datasets, methods that the script overrides.
        silent: changes that raise nothing and concern it.
        of_unsloth: whether Unsloth's trainers take the place of TRL's in it.
        unread: why cells of a notebook were left out.
    """

    name: str
    needs: tuple[Need, ...]
    ranges: tuple[Range, ...]
    lacking: tuple[Lacking, ...]
    combined: tuple[ScriptFinding, ...]
    silent: tuple[ScriptSilentChange, ...]
    of_unsloth: bool = False
    unread: tuple[str, ...] = ()

    @property
    def verdict(self) -> ScriptVerdict:
        """Whether it runs on what is installed, as far as names tell."""
        gone = any(finding.outcome is ScriptOutcome.GONE for finding in self.combined)
        if gone or any(missed.fate is not Fate.FIXED for missed in self.lacking):
            return ScriptVerdict.NOT
        is_old = self.lacking or self.combined
        return ScriptVerdict.WITH_THE_LAYER if is_old else ScriptVerdict.AS_IT_IS

    def to_dict(self) -> dict[str, Any]:
        return {
            "script": self.name,
            "verdict": str(self.verdict),
            "releases": {known.library: _of_range(known) for known in self.ranges},
            "lacking": [
                {**_of_need(missed.need), "fate": str(missed.fate), "text": missed.text}
                for missed in self.lacking
            ],
            "combined": [
                _fields(finding, "line", "cell", "old", "new", "because")
                for finding in self.combined
            ],
            "silent": [
                _fields(change, "line", "cell", "what", "text", "surely") for change in self.silent
            ],
            "of_unsloth": self.of_unsloth,
            "unread": list(self.unread),
        }


def wanted(text: PythonText, history: History, installed: Mapping[str, str]) -> ScriptWants | None:
    """Find out what a script wants.

    Returns:
        what it wants; None if it names none of the libraries.

    Raises:
        ScriptError: it is empty, or does not parse.
    """
    script = text.read()
    due = _due(frozenset(installed.items()))
    known_libraries = {*history.libraries, *due.packages}
    if not any(use.name.partition(".")[0] in known_libraries for use in script.uses):
        return None
    named = [text.in_its_cell(need) for need in needs(script, history)]
    found = ranges(named, history)
    known = {
        library: history.nearest(library, installed[library])
        for library in history.libraries
        if library in installed
    }
    releases = {known.library: known.releases for known in found if known.releases}
    written = [text.in_its_cell(each) for each in planned(text.text, due, text.folder).findings]
    missing = [_with_class(missed, written) for missed in lacking(named, installed, due, known)]
    combined = list(_combined(written, script, missing))
    told = [text.in_its_cell(change) for change in silent(script, due, releases)]
    return ScriptWants(
        text.name,
        tuple(named),
        tuple(found),
        tuple(missing),
        tuple(combined),
        tuple(change for change in dict.fromkeys(told) if not any(map(change.is_in, combined))),
        script.is_of_unsloth,
        text.unread,
    )


@lru_cache(maxsize=4)
def _due(installed: frozenset[tuple[str, str]]) -> Due:
    """Return the rows for installed versions: a folder of scripts asks for the same again."""
    return Due(all_rows(), dict(installed).get)


def _with_class(missed: Lacking, written: Iterable[ScriptFinding]) -> Lacking:
    """Name what makes a trainer's class that sees to a keyword, where the script is to use it."""
    for finding in written:
        if (
            finding.because == ITSELF_BEFORE
            and missed.need.keyword
            and missed.need.keyword in finding.new
        ):
            begin = missed.text.partition("; ")[0]
            return replace(missed, text=f"{begin}; write {finding.new} for {finding.old}")
    return missed


def _combined(
    written: Iterable[ScriptFinding], script: Script, missing: Collection[Lacking]
) -> Iterator[ScriptFinding]:
    """Yield what is old beside names, and beside what the installed releases lack."""
    lines = {(missed.need.cell, missed.need.line) for missed in missing}
    names = {missed.need.what for missed in missing}
    names |= {use.name for use in script.uses if use.optional}
    texts = " ".join(missed.text for missed in missing)
    for placed in written:
        is_told = (placed.cell, placed.line) in lines or placed.old in names
        is_told = is_told or placed.because == BY_THIS_NAME
        is_told = is_told or (placed.because == ITSELF_BEFORE and placed.new in texts)
        if placed.outcome is not ScriptOutcome.SILENT and not is_told:
            yield placed


def _of_range(found: Range) -> dict[str, Any]:
    return {
        "runs": [list(run) for run in found.runs],
        "first": found.first or None,
        "last": found.last or None,
        "first_by": found.first_by and _of_need(found.first_by),
        "last_by": found.last_by and _of_need(found.last_by),
        "apart": [_of_need(need) for need in found.apart],
    }


def _of_need(need: Need) -> dict[str, Any]:
    return _fields(need, "what", "line", "cell")


def _fields(found: object, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}
