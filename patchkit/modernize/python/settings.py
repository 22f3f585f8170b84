"""Give the settings of a training their current names, for files and command lines alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...legacy.changes import Keyword
from ...legacy.decisions import (
    UNKNOWN,
    Decision,
    Template,
    clash,
    decide,
    decide_value,
    gives_other_results,
)
from ...legacy.versions.due import Due, MethodRows
from ...legacy.wording import since
from ..findings import ScriptOutcome
from ..history import shipped
from .readers import Reader
from .standin import Standin, decided

ONLY_READ = frozenset({"overwrite_output_dir", "save_safetensors"})
"""Fields that trainings do not depend on, and that are kept for scripts that read them."""
_OPEN = re.compile(r"[${]")
"""What is in values that are known only when a command runs."""
_TRAINERS_OWN = "trust_remote_code"
"""The field that configurations of trainers have in place of another class."""


@dataclass(frozen=True)
class Changed:
    """What to write for a setting.

    Args:
        outcome: whether it was changed, or why it was not.
        because: since when, and what is to be decided; the old name goes before it.
        new: the settings that take its place; None if the old one stays as it is.
        without: others that go with it.
        environment: variables that take its place.
    """

    name: str
    outcome: ScriptOutcome
    because: str
    new: Mapping[str, Any] | None = None
    without: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def changes(
    settings: Mapping[str, Any], reader: Reader, due: Due, abbreviated: bool = False
) -> Iterator[Changed]:
    """Yield what to write for each setting that has changed.

    Args:
        settings: each with its value.
        reader: what reads them.
        due: the rows of the table for the releases that are wanted.
        abbreviated: whether the beginning of a name stood for it, as on a command line.
    """
    if abbreviated and not reader.is_guessed:
        written = {_whole(name, reader): name for name in settings}
        settings = {whole: settings[name] for whole, name in written.items()}
        for changed in changes(settings, reader, due):
            without = tuple(written[name] for name in changed.without)
            yield replace(changed, name=written[changed.name], without=without)
        return
    known = [
        rows for names in reader.configurations if (rows := due.methods(names).get("__init__"))
    ]
    keywords = {
        name: row
        for name in settings
        if (row := _row(name, known)) is not None and not _is_own(row, reader)
    }
    given = Standin(settings, keywords)
    beside = _beside(settings, known)
    for name, row in keywords.items():
        if name in given.unknown:
            for changed in _changed(row, given.unknown.pop(name), given, reader):
                if changed.environment and name in beside:
                    changed = replace(changed, new={**(changed.new or {}), **beside[name]})
                yield changed
    for name, value in settings.items():
        if name not in reader.own:
            yield from _renamed_value(name, value, known)


def _whole(name: str, reader: Reader) -> str:
    """Return the setting that a name is the beginning of; the name itself if that does not show."""
    fields = {
        field
        for owner in (owner for names in reader.configurations for owner in names)
        for library, _, cls in [owner.partition(".")]
        if library in shipped().libraries
        for field in shipped().libraries[library].keywords.get(cls, ())
    }
    meant = [field for field in {*fields, *reader.own} if field.startswith(name)]
    return meant[0] if len(meant) == 1 else name


def _beside(
    settings: Mapping[str, Any], known: list[MethodRows]
) -> dict[str, Mapping[str, object]]:
    """Return for settings what is to be written beside them, so that they do what they did."""
    silent = (row.silent for rows in known for row in rows.behaviours if row.silent is not None)
    return {
        name: told.write
        for told in silent
        for name in (told.given if told.write and gives_other_results(told, settings) else ())
    }


def _is_own(row: Keyword, reader: Reader) -> bool:
    """Tell whether a setting is one of the script's own, and keeps its name."""
    is_renamed = decide(row).keeps_value and row.name in reader.overridden
    return row.name in reader.own and not is_renamed


def _row(name: str, known: list[MethodRows]) -> Keyword | None:
    return next((rows.keywords[name] for rows in known if name in rows.keywords), None)


def _changed(row: Keyword, value: Any, given: Standin, reader: Reader) -> Iterator[Changed]:
    is_open = isinstance(value, str) and _OPEN.search(value) is not None
    gone = since(row)
    decision, taken = decided(row, UNKNOWN if is_open else value, given)
    current = {**decision.arguments, **decision.settings}
    is_template = any(
        isinstance(value, Template) and value.source != "{value}" for value in current.values()
    )
    if decision.refusal:
        yield Changed(row.name, ScriptOutcome.GONE, f"{gone}. {decision.refusal}")
    elif decision.undecided or is_template:
        yield Changed(row.name, ScriptOutcome.REMARKED, f"{gone}; {decision.advice}")
    elif decision.kept:
        yield from _kept(row, decision)
    elif decision.environment:
        yield _variable(row, decision, value, reader)
    else:
        because = f"{gone}: {decision.because}" if decision.because else gone
        current = {name: value if is_open else written for name, written in current.items()}
        yield _replaced(row, current, tuple(sorted(taken)), given, because)


def _replaced(
    row: Keyword, new: Mapping[str, Any], without: tuple[str, ...], given: Standin, because: str
) -> Changed:
    for name, value in new.items():
        if name not in given.arguments:
            continue
        if contradiction := clash(name, value, given.arguments[name]):
            return Changed(row.name, ScriptOutcome.REMARKED, contradiction)
        new = {other: written for other, written in new.items() if other != name}
    given.arguments.update(new)
    return Changed(row.name, ScriptOutcome.CHANGED, because, new, without)


def _variable(row: Keyword, decision: Decision, value: Any, reader: Reader) -> Changed:
    if not reader.sets_environment:
        names = ", ".join(decision.environment)
        because = f"{since(row)}; the environment variable {names} says it"
        return Changed(row.name, ScriptOutcome.REMARKED, because)
    variables = {name: str(value) for name in decision.environment}
    return Changed(row.name, ScriptOutcome.CHANGED, since(row), {}, environment=variables)


def _kept(row: Keyword, decision: Decision) -> Iterator[Changed]:
    gone = since(row)
    if row.name in ONLY_READ:
        yield Changed(row.name, ScriptOutcome.CHANGED, f"{gone}: only scripts read it", {})
    elif decision.by:
        trainer = row.owners[0].rpartition(".")[2].removesuffix("Config") + "Trainer"
        kept = ", ".join(f"{name}={value!r}" for name, value in decision.kept.items())
        call = f"{decision.by}({trainer}, {kept})"
        because = f"{gone}; in a script, {call} in the place of {trainer} sees to it"
        yield Changed(row.name, ScriptOutcome.REMARKED, because, {})
    elif row.name != _TRAINERS_OWN:
        yield Changed(row.name, ScriptOutcome.REMARKED, f"{gone}; {decision.advice}")


def _renamed_value(name: str, value: Any, known: list[MethodRows]) -> Iterator[Changed]:
    """Yield what to write for a value that has another name today."""
    current, gone = value, ""
    for row in (row for rows in known for row in rows.values if row.name == name):
        decision = decide_value(row, current)
        if decision is None:
            continue
        gone = gone or f"as {row.value!r} {since(row)}"
        if decision.refusal:
            yield Changed(name, ScriptOutcome.GONE, f"{gone}. {decision.refusal}")
            return
        current = decision.arguments[name]
    if gone:
        yield Changed(name, ScriptOutcome.CHANGED, gone, {name: current})
