"""Changes that raise nothing and give a script other results than it had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...legacy.changes import Default
from ...legacy.decisions import decide, is_relied_on
from ...legacy.versions.due import Due
from ...legacy.wording import release
from ..findings import InScript, ScriptFinding
from ..python.silent import concerns, decoding_calls, first_argument
from ..reading import Script
from ..reading.script import ScriptCall
from .needs import rows_for

_OBJECTS = "PreTrained"
"""Begin of the names of classes that scripts do not write down."""


@dataclass(frozen=True)
class ScriptSilentChange(InScript):
    """A change that concerns the script.

    Args:
        what: the call, as `DPOConfig`.
        text: what changed, and in which release.
        surely: whether all releases that the script can be for are from before the change.
        cell: the cell of a notebook, from 1; 0 elsewhere.
    """

    line: int
    what: str
    text: str
    surely: bool
    cell: int = 0

    def is_in(self, finding: ScriptFinding) -> bool:
        """Tell whether what modernize found at the call says the same."""
        told = finding.because.partition(", since ")[0]
        same = (finding.cell, finding.line) == (self.cell, self.line)
        return same and finding.old.endswith(self.what) and self.text.endswith(told)


def silent(
    script: Script, due: Due, written_for: Mapping[str, Sequence[str]]
) -> Iterator[ScriptSilentChange]:
    """Yield the changes that concern a script on the installed releases.

    Args:
        script: the script.
        due: the rows of the table for the installed releases.
        written_for: library to the releases that it can be for, the oldest first; all releases for
            one that is missing.
    """
    for call in script.calls:
        rows = rows_for(call, due)
        values = first_argument(call, rows)
        values |= {name: each.value for name, each in call.keywords.items()}
        current = (decide(rows.keywords[name]).to for name in values if name in rows.keywords)
        given = {*values, *current}
        for default in rows.defaults.values() if call.complete else ():
            if is_relied_on(default, given, values.get):
                for surely, text in _differences(default, written_for.get(default.library)):
                    yield ScriptSilentChange(call.line, _shown(call), text, surely)
        for behaviour in rows.behaviours:
            before = _until(behaviour.gone, written_for.get(behaviour.library))
            told = behaviour.silent
            if told is None or not call.complete or (told.raises and not told.of_older):
                continue
            if told.decoded and decoding_calls(script):
                continue  # where they decode
            if told.of_older and told.write:
                continue  # modernize writes it beside what else is old
            if before is not None and concerns(told, values, script, call):
                text = f"since {release(behaviour.gone)} it {told.told}"
                yield ScriptSilentChange(call.line, _shown(call), text, before)


def _differences(default: Default, releases: Sequence[str] | None) -> Iterator[tuple[bool, str]]:
    """Yield whether and how a default was another in releases that the script can be for."""
    changes = [
        (was, since, before)
        for (_, was), (since, _) in zip(default.values, default.values[1:], strict=False)
        if (before := _until(f"{default.library} {since}", releases)) is not None
    ]
    today = default.values[-1][1]
    if not changes or all(was == today for was, _, _ in changes):
        return
    was = ", ".join(
        f"{was!r} until {release(f'{default.library} {since}')}" for was, since, _ in changes
    )
    yield any(before for _, _, before in changes), f"{default.name} was {was} and is {today!r}"


def _until(changed: str, releases: Sequence[str] | None) -> bool | None:
    """Tell whether all of some releases are from before a change; None if none is."""
    from packaging.version import Version

    limit = Version(changed.partition(" ")[2])
    if not releases:
        return False
    if Version(releases[-1]) < limit:
        return True
    return False if Version(releases[0]) < limit else None


def _shown(call: ScriptCall) -> str:
    return call.title.rpartition(".")[2] if call.title.startswith(_OBJECTS) else call.title
