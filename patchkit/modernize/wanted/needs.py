"""What a script needs of the libraries: each name and keyword, with the releases that have it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...environment import in_range
from ...legacy.changes import Attribute, Change, Keyword
from ...legacy.rows import all_rows
from ...legacy.versions.due import Due, MethodRows
from ..findings import InScript
from ..history import History, Releases, Together
from ..reading import Script
from ..reading.expressions import generation_settings
from ..reading.kinship import ancestors
from ..reading.script import Given, ScriptAttribute, ScriptCall, ScriptUse

_AUTO = "transformers._BaseAutoModelClass"
_MODEL, _CONFIG = "transformers.PreTrainedModel", "transformers.PreTrainedConfig"
_CONFIGURATIONS = ("Config", "Arguments")
"""Ends of the names of classes whose keywords are attributes of their objects."""


@dataclass(frozen=True)
class Need(InScript):
    """Something that a script names.

    Args:
        what: `trl.SFTTrainer`, or `SFTTrainer(tokenizer=)`.
        line: where the script names it first, from 1.
        possible: where it is there; any one of these is enough. Empty if no release has it.
        subject: what names it.
        given: of a call, the argument.
        keyword: of a call, its keyword.
        cell: the cell of a notebook, from 1; 0 elsewhere.
    """

    what: str
    line: int
    possible: tuple[Together, ...]
    subject: ScriptUse | ScriptCall | ScriptAttribute
    given: Given | None = None
    keyword: str = ""
    cell: int = 0

    def releases(self, library: str) -> Releases | None:
        """Return the releases of a library that can have it; None if that library is free."""
        if not self.possible or any(library not in together for together in self.possible):
            return None
        return frozenset().union(*(together[library] for together in self.possible))

    def holds(self, versions: Mapping[str, str]) -> bool:
        """Tell whether these releases, by library, have it."""
        return any(
            all(versions.get(library) in releases for library, releases in together.items())
            for together in self.possible
        )


def needs(script: Script, history: History) -> list[Need]:
    """Return what a script needs, each once, in the order of the text."""
    found: dict[str, Need] = {}
    everything = [
        *_of_names(script, history),
        *(need for call in script.calls for need in _of_call(call, script, history)),
        *(need for attribute in script.attributes for need in _of_attribute(attribute, history)),
    ]
    for need in sorted(everything, key=lambda need: need.line):
        found.setdefault(need.what, need)
    return list(found.values())


def _of_names(script: Script, history: History) -> Iterator[Need]:
    for use in script.uses:
        library, _, rest = use.name.partition(".")
        if not rest or use.optional or library not in history.libraries:
            continue
        releases = history.place(use.name)
        is_private = any(part.startswith("_") for part in rest.split("."))  # the history has none
        if releases or (releases is not None and not is_private):
            yield Need(use.name, use.line, ({library: releases},) if releases else (), use)


def _of_call(call: ScriptCall, script: Script, history: History) -> Iterator[Need]:
    classes = ancestors(call.name)
    if gone := _with_attribute(classes, call.method, history):
        function = call.node.func
        is_read = isinstance(function, ast.Attribute) and function.attr == call.method
        if isinstance(function, ast.Attribute) and is_read and not script.asks_first(function):
            subject = ScriptAttribute(call.name, call.method, call.line, function)
            name = f"{classes[0].rpartition('.')[2]}.{call.method}"
            yield Need(f"{name}()", call.line, tuple(gone), subject)
    owners = owners_of(call)
    rows = rows_for(call, _all_rows())
    for keyword, given in call.keywords.items():
        if call.own is not None and call.own.takes(keyword):
            continue
        row = rows.keywords.get(keyword)
        possible = _keyword(owners, keyword, history, goes=row is not None)
        if possible is None and row is not None and row.library in history.libraries:
            possible = [{row.library: _before(row, history)}]
        if not possible and not call.method and call.name not in owners:
            continue  # a function that has only the name of one that is known
        if possible is not None:
            what = f"{call.title}({keyword}=)"
            yield Need(what, given.line, tuple(possible), call, given, keyword)
    for value in rows.values:
        argument = call.keywords.get(value.name)
        known = value.library in history.libraries
        if known and argument is not None and argument.value == value.value:
            what = f"{call.title}({value.name}={value.value!r})"
            possible = [{value.library: _before(value, history)}]
            yield Need(what, argument.line, tuple(possible), call, argument, value.name)


def _of_attribute(attribute: ScriptAttribute, history: History) -> Iterator[Need]:
    """Yield what reading a field of a configuration needs, or an attribute that has gone."""
    owners = ancestors(attribute.owner)
    owner = owners[0]
    if attribute.is_set:
        return
    is_field = owner.endswith(_CONFIGURATIONS) and not attribute.of_class
    possible = history.keyword(owner, attribute.name) if is_field else None
    possible = possible or _with_attribute(owners, attribute.name, history, attribute.of_class)
    if possible:
        what = f"{owner.rpartition('.')[2]}.{attribute.name}"
        yield Need(what, attribute.line, tuple(possible), attribute)


def _with_attribute(
    owners: Iterable[str], name: str, history: History, of_class: bool = False
) -> list[Together]:
    """Return where a class or its objects have an attribute or method that has gone."""
    return [
        {row.library: releases}
        for row in _attributes().get(name, ())
        if row.library in history.libraries
        and row.of_class == of_class
        and not set(row.owners).isdisjoint(owners)
        and (releases := _before(row, history))  # it may have gone before the first that was read
    ]


@cache
def _attributes() -> Mapping[str, Sequence[Attribute]]:
    found: dict[str, list[Attribute]] = {}
    for row in all_rows():
        if not isinstance(row, Attribute) or row.differs or row.is_understood:
            continue
        # Many models' own configurations still have what all of them had.
        if _CONFIG not in row.owners or row.name in generation_settings():
            found.setdefault(row.name, []).append(row)
    return found


def _keyword(
    owners: Iterable[str], keyword: str, history: History, *, goes: bool
) -> list[Together] | None:
    """Return where the first of these that is known takes a keyword; None if none is known.

    Args:
        owners: names of what is called.
        keyword: the keyword.
        history: which release has what.
        goes: whether the table says that it is not understood any more. Else it may still be, where
            any keyword is taken.
    """
    for owner in owners:
        possible = history.keyword(owner, keyword)
        if possible is not None:
            later = None if goes else history.after(owner, keyword)
            return [*possible, later] if later else possible
    return None


def owners_of(call: ScriptCall) -> tuple[str, ...]:
    """Return the names by which the history may know what is called."""
    known = ancestors(call.name)
    if call.method in ("", "__init__"):
        return known[:1]
    if _AUTO in known:
        known = (*known, _MODEL)
    return tuple(f"{name}.{call.method}" for name in known)


def rows_for(call: ScriptCall, due: Due) -> MethodRows:
    """Return the rows of the table that are about a call."""
    return due.of_call(ancestors(call.name), call.method) or MethodRows()


@cache
def _all_rows() -> Due:
    """Return the rows of the table as they are for the newest releases."""
    return Due(all_rows(), lambda library: "9999")


def _before(row: Change | Keyword, history: History) -> Releases:
    """Return the releases before something went."""
    library, _, number = row.gone.partition(" ")
    return frozenset(
        release for release in history.releases(library) if in_range(release, f"<{number}")
    )
