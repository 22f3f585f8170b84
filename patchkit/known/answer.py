"""What is said to an error: its cause, what to do, whose it is, and what would show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..about import shipped_table
from ..libraries import title
from .choosing import Match
from .rows import since
from .wordings import filled

LONGEST_QUOTED = 300
"""Letters of a message that an answer quotes."""


@dataclass(frozen=True)
class Answer:
    """One possible cause of an error.

    Args:
        id: the row, or the name that is gone or missing.
        cause: what it is, in a sentence.
        do: what to do.
        write: the line to write, or the command.
        whose: who has to act.
        tell: what shows that it is this.
        links: where it is upstream.
        patches: ids of the patches that fix it.
        preflight: findings that say it before training.
    """

    id: str
    cause: str
    do: str
    write: tuple[str, ...] = ()
    whose: str = ""
    tell: str = ""
    links: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    preflight: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def of_match(match: Match) -> Answer:
    """Return a row as the answer to the error that it was chosen for."""
    row = match.row
    values = {"message": match.error.message[:LONGEST_QUOTED], **match.values}
    if asking := match.error.caller(row.asked):
        values["caller"], values["asking"] = titled(asking), distribution(asking)
    if row.since is not None:
        table, name = row.since
        values["since"] = since(table, values.get(name, ""))
    answer = worded(row.id, vars(row), values)
    return replace(answer, links=row.links, patches=row.patches, preflight=row.preflight)


def titled(package: str) -> str:
    """Return how a sentence names a library or framework that can be imported by a name."""
    framework = shipped_table("known/frameworks.json").get(package, {})
    return str(framework.get("title") or title(package))


def distribution(package: str) -> str:
    """Return what pip calls a library or framework that can be imported by a name."""
    framework = shipped_table("known/frameworks.json").get(package, {})
    return str(framework.get("distribution") or package.replace("_", "-"))


def worded(name: str, texts: Mapping[str, Any], values: Mapping[str, str]) -> Answer:
    """Return the answer of that name, with values in the holes of its texts.

    Args:
        name: its id.
        texts: `cause` and `do`, and perhaps `write`, `whose` and `tell`.
        values: by the names of the holes; a line to write that comes out empty is left out.
    """

    def said(key: str) -> str:
        return filled(texts.get(key, ""), values)

    lines = (filled(line, values) for line in texts.get("write", ()))
    write = tuple(filter(None, lines))
    return Answer(name, said("cause"), said("do"), write, said("whose"), said("tell"))
