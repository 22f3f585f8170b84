"""Lines of a shell that start trainings, with current flags."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...legacy.versions.due import Due
from ...legacy.wording import since
from ..errors import ScriptError
from ..findings import Modernized, ScriptFinding, ScriptOutcome
from ..python import modernize as python
from ..python.settings import Changed, changes
from .edits import TextEdit, edited, line_of, remark_above
from .launches import Flag, Launch, Scripts, gone_commands, launches
from .words import scripts_in

_NEED_TRUTH = {"bf16"}
"""Switches of TRL's configurations that need a value, since they may be unset."""
_TRUTH = "it needs a value since TRL 0.19.0, as it may be unset"
_KEYWORDS = {"if", "then", "do", "else", "elif", "while", "until", "time", "{", "!", "exec"}


def no_script(path: str) -> None:
    """Know no script."""


def modernize(text: str, due: Due, script: Scripts = no_script) -> Modernized:
    """Rewrite the flags in a shell's lines; other commands stay as they are."""
    edits, found = changed_in(text, due, script)
    return Modernized(edited(text, edits), found)


def changed_in(
    text: str, due: Due, script: Scripts = no_script
) -> tuple[list[TextEdit], list[ScriptFinding]]:
    """Return the edits that `modernize` makes, and what it finds."""
    edits: dict[tuple[int, int, str], TextEdit] = {}
    found: dict[tuple[int, str], ScriptFinding] = {}
    for started in launches(text, script):
        # A variable may be used by several commands.
        for changed, finding in _rewritten(text, started, due):
            for edit in changed:
                inserted = edit.text if edit.start == edit.end else ""
                edits.setdefault((edit.start, edit.end, inserted), edit)
            found.setdefault((finding.line, finding.old), finding)
    for words, command, place in gone_commands(text, due):
        because = f"{since(place.row)}. {place.advice}"
        for edit in remark_above(text, words[0].start, f"{command} {because}"):
            edits[edit.start, edit.end, edit.text] = edit
        line = line_of(text, words[0].start)
        found[line, command] = ScriptFinding(line, command, "", because, ScriptOutcome.GONE)
    for start, end in scripts_in(text):
        above = line_of(text, start) - 1
        try:
            written = python(text[start:end], due)
        except ScriptError:
            continue
        edits[start, end, ""] = TextEdit(start, end, written.text)
        for finding in written.findings:
            placed = replace(finding, line=finding.line + above)
            found[placed.line, placed.old] = placed
    return list(edits.values()), sorted(found.values(), key=lambda finding: finding.line)


def _rewritten(
    text: str, started: Launch, due: Due
) -> Iterator[tuple[list[TextEdit], ScriptFinding]]:
    given = {flag.name: flag for flag in started.flags if flag.name != "config"}
    command = next(word for word in started.words if word.value not in _KEYWORDS)
    values = {name: flag.value for name, flag in given.items()}
    for changed in changes(values, started.reader, due, abbreviated=True):
        flag = given[changed.name]
        edits: list[TextEdit] = []
        if changed.outcome is not ScriptOutcome.CHANGED:
            kept = changed.new is None
            old = flag.written if kept else text[flag.word.start : flag.end]
            remark = f"{'' if kept else 'left out: '}{old} {changed.because}"
            edits += remark_above(text, started.words[0].start, remark)
        if changed.new is not None:
            edits += _replaced(text, flag, changed, given, started)
        edits += [
            TextEdit(command.start, command.start, f"{name}={shlex.quote(value)} ")
            for name, value in changed.environment.items()
        ]
        line, because = line_of(text, flag.word.start), f"it {changed.because}"
        yield (
            edits,
            ScriptFinding(line, flag.written, _new(changed, flag), because, changed.outcome),
        )
    # Configurations of TRL's trainers derive from another class.
    if any(names[0].startswith("trl.") and names[1:] for names in started.reader.configurations):
        yield from _truths(text, given, started)


def _new(changed: Changed, flag: Flag) -> str:
    """Return what is written for a flag; no more than its name if its value stays."""
    new = changed.new or {}
    if list(new.values()) == [flag.value]:
        return " ".join(_name(name, flag) for name in new)
    variables = (f"{name}={shlex.quote(value)}" for name, value in changed.environment.items())
    return _spelled(new, flag) or " ".join(variables)


def _truths(
    text: str, given: Mapping[str, Flag], started: Launch
) -> Iterator[tuple[list[TextEdit], ScriptFinding]]:
    for name in sorted(_NEED_TRUTH - started.reader.own):
        flag = given.get(name)
        if flag is not None and flag.is_bare:
            line = line_of(text, flag.word.start)
            finding = ScriptFinding(
                line, flag.written, f"{flag.written} True", _TRUTH, ScriptOutcome.CHANGED
            )
            yield [TextEdit(flag.word.end, flag.word.end, " True")], finding


def _replaced(
    text: str, flag: Flag, changed: Changed, given: Mapping[str, Flag], started: Launch
) -> list[TextEdit]:
    new = changed.new or {}
    edits = [_removed(text, given[name], started) for name in changed.without]
    if not new:
        return [*edits, _removed(text, flag, started)]
    value, *more = new.values()
    is_same = not more and type(value) is type(flag.value) and value == flag.value
    if is_same and flag.written in flag.word.raw:
        start = flag.word.start + flag.word.raw.index(flag.written)
        return [*edits, TextEdit(start, start + len(flag.written), _name(next(iter(new)), flag))]
    return [*edits, TextEdit(flag.word.start, flag.end, _spelled(new, flag))]


def _removed(text: str, flag: Flag, started: Launch) -> TextEdit:
    """Take a flag out, with what stands between it and the word before."""
    place = next(place for place, word in enumerate(started.words) if word.start == flag.word.start)
    begin = started.words[place - 1].end
    between = text[begin : flag.word.start].replace("\\", "")
    return TextEdit(
        begin if begin < flag.word.start and between.isspace() else flag.word.start, flag.end, ""
    )


def _name(name: str, flag: Flag) -> str:
    """Return a flag, with dashes where the old one has them."""
    return f"--{name.replace('_', '-') if '-' in flag.written[2:] else name}"


def _spelled(settings: Mapping[str, Any], flag: Flag) -> str:
    words: list[str] = []
    for name, value in settings.items():
        words.append(_name(name, flag))
        for part in value if isinstance(value, list | tuple) else [value]:
            words.append(shlex.quote(json.dumps(part) if isinstance(part, Mapping) else str(part)))
    return " ".join(words)
