"""Lines of a shell that start trainings, with the flags of today."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...legacy.versions.due import Due
from ..findings import Finding, Modernized, Outcome
from .edits import Edit, edited, line_break, line_of, start_of_line
from .launches import Flag, Launch, launch
from .settings import Changed, changes
from .variables import expanded, variables
from .words import commands

_NEED_TRUTH = {"bf16"}
"""Switches of TRL's configurations that need a value, since they may be unset."""
_TRUTH = "it needs a value since TRL 0.19.0, as it may be unset"
_KEYWORDS = {"if", "then", "do", "else", "elif", "while", "until", "time", "{", "!", "exec"}
_REMARK = "# patchkit: "


Scripts = Callable[[str], str | None]
"""Returns the text of the Python script at a path, None if it is not known."""


def no_script(path: str) -> None:
    """Know no script."""


def modernize(text: str, due: Due, script: Scripts = no_script) -> Modernized:
    """Write the flags of a shell's lines anew; other commands stay as they are.

    Args:
        text: of a shell script, or a line.
        due: the rows of the table for the releases that are wanted.
        script: finds the scripts that are started.
    """
    edits, found = changed_in(text, due, script)
    return Modernized(edited(text, edits), found)


def changed_in(
    text: str, due: Due, script: Scripts = no_script
) -> tuple[list[Edit], list[Finding]]:
    """Return the edits that `modernize` makes, and what it finds."""
    edits: dict[tuple[int, int, str], Edit] = {}
    found: dict[tuple[int, str], Finding] = {}
    held = variables(text)
    for words in commands(text):
        started = launch(expanded(words, held), script)
        if started is not None:
            # A variable may be used by several commands.
            for changed, finding in _rewritten(text, started, due):
                for edit in changed:
                    inserted = edit.text if edit.start == edit.end else ""
                    edits.setdefault((edit.start, edit.end, inserted), edit)
                found.setdefault((finding.line, finding.old), finding)
    return list(edits.values()), sorted(found.values(), key=lambda finding: finding.line)


def _rewritten(text: str, started: Launch, due: Due) -> Iterator[tuple[list[Edit], Finding]]:
    given = {flag.name: flag for flag in started.flags if flag.name != "config"}
    command = next(word for word in started.words if word.value not in _KEYWORDS)
    for changed in changes({name: flag.value for name, flag in given.items()}, started.reader, due):
        flag = given[changed.name]
        edits: list[Edit] = []
        if changed.outcome is not Outcome.CHANGED:
            kept = changed.new is None
            old = flag.written if kept else text[flag.word.start : flag.end]
            remark = f"{'' if kept else 'left out: '}{old} {changed.because}"
            edits += _remark(text, started.words[0].start, remark)
        if changed.new is not None:
            edits += _replaced(text, flag, changed, given, started)
        edits += [
            Edit(command.start, command.start, f"{name}={shlex.quote(value)} ")
            for name, value in changed.environment.items()
        ]
        line, because = line_of(text, flag.word.start), f"it {changed.because}"
        yield edits, Finding(line, flag.written, _new(changed, flag), because, changed.outcome)
    if any(_needs_truth(kind) for kind in started.reader.configurations):
        yield from _truths(text, given, started)


def _new(changed: Changed, flag: Flag) -> str:
    """Return what is written for a flag; no more than its name if its value stays."""
    new = changed.new or {}
    if list(new.values()) == [flag.value]:
        return " ".join(_name(name, flag) for name in new)
    variables = (f"{name}={shlex.quote(value)}" for name, value in changed.environment.items())
    return _spelled(new, flag) or " ".join(variables)


def _needs_truth(kind: tuple[str, ...]) -> bool:
    """Tell whether a class is a configuration of TRL's trainers."""
    return kind[0].startswith("trl.") and len(kind) > 1


def _truths(
    text: str, given: Mapping[str, Flag], started: Launch
) -> Iterator[tuple[list[Edit], Finding]]:
    for name in sorted(_NEED_TRUTH - started.reader.own):
        flag = given.get(name)
        if flag is not None and flag.is_bare:
            line = line_of(text, flag.word.start)
            finding = Finding(line, flag.written, f"{flag.written} True", _TRUTH, Outcome.CHANGED)
            yield [Edit(flag.word.end, flag.word.end, " True")], finding


def _replaced(
    text: str, flag: Flag, changed: Changed, given: Mapping[str, Flag], started: Launch
) -> list[Edit]:
    new = changed.new or {}
    edits = [_removed(text, given[name], started) for name in changed.without]
    if not new:
        return [*edits, _removed(text, flag, started)]
    values = list(new.values())
    if len(new) == 1 and _same(values[0], flag.value) and flag.written in flag.word.raw:
        start = flag.word.start + flag.word.raw.index(flag.written)
        return [*edits, Edit(start, start + len(flag.written), _name(next(iter(new)), flag))]
    return [*edits, Edit(flag.word.start, flag.end, _spelled(new, flag))]


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _removed(text: str, flag: Flag, started: Launch) -> Edit:
    """Take a flag out, with what stands between it and the word before."""
    place = next(place for place, word in enumerate(started.words) if word.start == flag.word.start)
    begin = started.words[place - 1].end
    between = text[begin : flag.word.start].replace("\\", "")
    return Edit(
        begin if begin < flag.word.start and between.isspace() else flag.word.start, flag.end, ""
    )


def _name(name: str, flag: Flag) -> str:
    """Return a flag, with dashes where the old one has them."""
    return f"--{name.replace('_', '-') if '-' in flag.written[2:] else name}"


def _spelled(settings: Mapping[str, Any], flag: Flag) -> str:
    words: list[str] = []
    for name, value in settings.items():
        words.append(_name(name, flag))
        for it in value if isinstance(value, list | tuple) else [value]:
            words.append(shlex.quote(json.dumps(it) if isinstance(it, Mapping) else str(it)))
    return " ".join(words)


def _remark(text: str, start: int, remark: str) -> list[Edit]:
    """Put a remark above a command, unless it stands there."""
    start = start_of_line(text, start)
    line = _REMARK + " ".join(remark.split())
    if line in text[:start]:
        return []
    indent = text[start : len(text) - len(text[start:].lstrip(" \t"))]
    return [Edit(start, start, f"{indent}{line}{line_break(text)}")]
