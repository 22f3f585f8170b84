"""Say what to do as the framework has it through which the error came.

`frameworks.json` has how each framework spells a setting that answers name as Transformers, PEFT
and TRL do, and up to which release it takes the libraries, both read off its wheels and sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..about import shipped_table
from .answer import Answer
from .pasted import Raised

MOST = 4
"""Settings that are spelt for one answer."""
LETTERS = 20_000
"""Letters, from the end of a text, in which a framework's name counts."""
NAMED = r"(?<![\w.-])(?:\w+_\w+|(?:bf16|fp16|tf32|optim|packing)\b|\w+(?==))"
"""Settings in an answer."""
VLLM = "trl[vllm]"
"""What brings in the vLLM that TRL takes; some frameworks have an extra of their own."""
UPGRADE = r"pip install .*?(?:-U |>=)"
"""Lines to write that bring in releases which a framework need not take."""
UPGRADED = r"\b[Uu]pgrade (?!it\b)"
"""Words of an answer that has libraries upgraded."""


def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = shipped_table("known/frameworks.json")
    return table


def framework_of(error: Raised, text: str) -> str:
    """Return the framework that the outermost line of a traceback is of, or that a text names.

    Args:
        error: the error.
        text: what was pasted; it counts if it names one framework only.
    """
    for frame in error.frames:
        if frame.package in _table():
            return frame.package
    end = text[-LETTERS:]
    named = [name for name, known in _table().items() if re.search(known["words"], end, re.I)]
    return named[0] if len(named) == 1 else ""


def in_its_words(answer: Answer, framework: str) -> Answer:
    """Return an answer that says how a framework spells its settings, and what it takes.

    Args:
        answer: the answer.
        framework: the framework, as it is imported.
    """
    known = _table()[framework]
    said = " ".join((answer.do, *answer.write))
    more = [*_spelt(known, said), *_bounds(known, answer)]
    if re.search(UPGRADED, answer.do) and known["title"] not in " ".join((said, *more)):
        more.append(f"Upgrade {known['title']}, too, which goes with certain releases of them.")
    write = (known.get("vllm", line) if VLLM in line else line for line in answer.write)
    return replace(answer, do=" ".join((answer.do, *more)), write=tuple(write))


def _spelt(known: Mapping[str, Any], said: str) -> Iterator[str]:
    named = dict.fromkeys(re.findall(NAMED, said))
    spelt = {name: known["settings"][name] for name in named if name in known["settings"]}
    settings = [f"{own} for {name}" for name, own in spelt.items() if own.split()[0] not in said]
    same = [name for name in named if name in known["same"].split() and name not in spelt]
    if settings:
        yield f"In {known['where']} of {known['title']}: {', '.join(settings[:MOST])}."
    elif same and known["title"] not in said:
        yield f"{known['title']} has {', '.join(same[:MOST])} by that name in {known['where']}."


def _bounds(known: Mapping[str, Any], answer: Answer) -> Iterator[str]:
    upgrades = " ".join(line for line in answer.write if re.search(UPGRADE, line))
    takes = [
        f"{library}{_releases(known, library)[-1][1]}"
        for library in known["takes"]
        if re.search(rf"(?<![\w-]){library}(?![\w-])", upgrades)
    ]
    if takes and "takes" not in answer.do:
        yield f"{known['title']} {known['newest']} takes {', '.join(takes)}."


def bound_for(framework: str, library: str, gone: str) -> tuple[str, str]:
    """Say which release of a framework takes a library that has dropped what it asks for.

    Args:
        framework: the framework, as it is imported.
        library: the library.
        gone: the library's release that dropped that; empty if not known.

    Returns:
        the sentence; and what it takes of the library, if no release takes that one. Both are empty
        if nothing is known.
    """
    known = _table().get(framework, {})
    if library not in known.get("takes", ()):
        return "", ""
    releases = _releases(known, library)
    for release, bound in releases:
        if gone and _reaches(bound, gone):
            return f"{known['title']} takes {library}{bound} since {release} at the latest.", ""
    newest = releases[-1][1]
    return f"{known['title']} {known['newest']} takes {library}{newest}.", gone and newest


def _releases(known: Mapping[str, Any], library: str) -> list[list[str]]:
    """Return releases of a framework with the bound up to which they take a library."""
    return [each.split() for each in known["takes"][library].split(", ")]


def _reaches(bound: str, release: str) -> bool:
    from packaging.version import Version

    highest = Version(bound.lstrip("<="))
    return highest > Version(release) or (bound[1] == "=" and highest == Version(release))
