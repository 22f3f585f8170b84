"""Compare what the programs found with several sets of releases, and with the legacy layer."""

from __future__ import annotations

import fnmatch
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from patchkit.legacy.rows import toml

ABSENT = "(none)"
"""What stands for a fact that a set of releases does not have."""
UNKNOWN = object()
"""What stands for a fact that a program did not come to, because it raised."""
RAISED = ("raised", "raised at")
FIXED, NAMED, TOLD = "fixed", "fixed if named", "told"
NEITHER, BACK, OPEN = "needs neither", "as before", "open"
EXPECTED = Path(__file__).with_name("expected.toml")


@dataclass(frozen=True)
class Run:
    """What the programs found in one environment.

    Args:
        releases: the release of each library.
        layer: how the legacy layer was asked for: empty, `True`, or releases.
        records: the facts of each program, by their paths.
        said: the lines of patchkit, for each program.
    """

    releases: Mapping[str, str]
    layer: str
    records: Mapping[str, Mapping[str, Any]]
    said: Mapping[str, Sequence[str]]

    @classmethod
    def read(cls, file: Path) -> Run:
        """Read a file that the programs wrote."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    @property
    def age(self) -> tuple[Version, Version]:
        return Version(self.releases["transformers"]), Version(self.releases["trl"])

    def fact(self, program: str, name: str) -> Any:
        """Return a fact, `ABSENT`, or `UNKNOWN` if the program raised or was not run."""
        facts = self.records.get(program)
        if facts is None:
            return UNKNOWN
        return facts.get(name, UNKNOWN if "raised" in facts else ABSENT)


@dataclass(frozen=True)
class Expected:
    """A row of the table of expected differences.

    Args:
        facts: globs of `program: fact`.
        what: what changed, for the page.
        told: where patchkit tells it: `the layer`, `doctor`, `modernize`, or a page.
        says: what a line of the layer contains, if the layer tells it.
        because: why it is neither fixed nor told.
        added: whether only facts are meant that older releases do not have.
    """

    facts: Sequence[str]
    what: str
    told: str = ""
    says: str = ""
    because: str = ""
    added: bool = False


@dataclass(frozen=True)
class FactChange:
    """A fact that is not the same in all releases, and raises in none.

    Args:
        program: the program.
        fact: the path of the fact.
        values: the runs between which it changed, with the values before and after.
        state: `FIXED`, `NAMED`, `TOLD`, `NEITHER`, `OPEN`, or `BACK` if today's is the oldest.
        row: the row of the table that speaks of it.
        problem: what is not as the row says; empty if nothing is.
    """

    program: str
    fact: str
    values: Sequence[tuple[Run, Any, Run, Any]]
    state: str = OPEN
    row: Expected | None = None
    problem: str = ""

    @property
    def label(self) -> str:
        return f"{self.program}: {self.fact}"


def expected(file: Path = EXPECTED) -> list[Expected]:
    """Read the table of expected differences."""
    tables = toml.read(file.read_text(encoding="utf-8"), file.name)
    return [Expected(**table) for table in tables.get("difference", [])]


def sorted_runs(runs: Iterable[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs without the layer, oldest first, and those with it."""
    ordered = sorted(runs, key=lambda run: run.age)
    return [run for run in ordered if not run.layer], [run for run in ordered if run.layer]


def changes(plain: Sequence[Run]) -> Iterator[FactChange]:
    """Yield the facts that changed between neighbouring releases; `plain` has the oldest first."""
    programs = sorted({program for run in plain for program in run.records})
    for program in programs:
        names = {name for run in plain for name in run.records.get(program, {})}
        for name in sorted(names.difference(RAISED)):
            found = [(run, run.fact(program, name)) for run in plain]
            known = [(run, value) for run, value in found if value is not UNKNOWN]
            changed = [
                (*before, *after)
                for before, after in itertools.pairwise(known)
                if before[1] != after[1]
            ]
            if changed:
                yield FactChange(program, name, changed)


def judged(
    difference: FactChange, plain: Sequence[Run], layered: Sequence[Run], rows: Sequence[Expected]
) -> FactChange:
    """Say what patchkit does about a difference.

    Args:
        difference: the fact that changed.
        plain: the runs without the layer, oldest first.
        layered: the runs of the newest releases with it.
        rows: the table of expected differences.
    """
    program, fact, values = difference.program, difference.fact, difference.values
    _, before, _, after = values[-1]
    if values[0][1] == after:
        return FactChange(program, fact, values, BACK)
    row = next((row for row in rows if _is_of(row, difference)), None)
    state, problem = OPEN, ""
    now = plain[-1].fact(program, fact)
    general = [run for run in layered if run.layer == "True"]
    if any(run.fact(program, fact) == before != after for run in general):
        state = FIXED
    elif any(_gives_back(run, plain, difference, now) for run in layered):
        state = NAMED
    elif row is not None and row.told:
        state = TOLD
        lines = [line for run in layered for line in run.said.get(program, ())]
        if row.says and not any(row.says in line for line in lines):
            problem = f"no line of the layer has {row.says!r}"
    elif row is not None:
        state = NEITHER
    return FactChange(program, fact, values, state, row, problem)


def by_the_layer(plain: Sequence[Run], layered: Sequence[Run]) -> Iterator[str]:
    """Yield the facts that only the layer has: neither today's nor those of an older release."""
    newest = plain[-1]
    for run in layered:
        for program, facts in run.records.items():
            if newest.records.get(program) is None:
                continue
            for name, value in facts.items():
                others = [other.fact(program, name) for other in plain]
                if UNKNOWN not in others[-1:] and value not in others:
                    yield f"{program}: {name} is {shown(value)} with the layer ({run.layer})"


def raising(plain: Sequence[Run]) -> Iterator[str]:
    """Yield the programs that raise in the newest release, and not in all older ones."""
    for program, facts in plain[-1].records.items():
        if "raised" in facts and any(
            "raised" not in run.records.get(program, {}) for run in plain[:-1]
        ):
            yield f"{program}: {facts['raised']}"


def shown(value: Any, most: int = 90) -> str:
    text = value if value is ABSENT else json.dumps(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _is_of(row: Expected, difference: FactChange) -> bool:
    if row.added and any(before is not ABSENT for _, before, _, _ in difference.values):
        return False
    return any(fnmatch.fnmatchcase(difference.label, glob) for glob in row.facts)


def _gives_back(run: Run, plain: Sequence[Run], difference: FactChange, now: Any) -> bool:
    """Whether a run with named releases has the fact of these releases, which is not today's."""
    named = dict(part.strip().split("==") for part in run.layer.split(",") if "==" in part)
    value = run.fact(difference.program, difference.fact)
    return value != now and any(
        value == old.fact(difference.program, difference.fact)
        for old in plain
        if named and all(old.releases[name] == release for name, release in named.items())
    )
