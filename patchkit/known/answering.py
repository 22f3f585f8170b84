"""Answer an error: from the rows, from the table of old spellings, and from the history."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..about import shipped_table
from . import names
from .answer import Answer, of_match
from .choosing import KINDS_ONLY, SHORTEST, Match, described, matches, rows_with_part
from .frameworks import framework_of, in_its_words
from .pasted import Frame, Pasted, Raised
from .raised import raised_in
from .wordings import squeezed

if TYPE_CHECKING:
    from ..catalogue.entries import Entry


SCRIPT = "the script"
"""Whose it is where nobody else is shown to ask."""
OF_NONE = "'NoneType' object"
"""How errors begin that any code raises."""


@dataclass(frozen=True)
class Found:
    """The answers to a text.

    Args:
        answers: the likeliest first.
        error: the error that they are about.
        is_part: whether the text is only a part of the messages of the rows.
        by_name: whether they come from the tables of names, and not from a row.
    """

    answers: tuple[Answer, ...]
    error: Raised
    is_part: bool = False
    by_name: bool = False


def answered(pasted: Pasted, installed: Callable[[str], str | None]) -> Found:
    """Return what is known of a pasted text; rows come before the table of old spellings.

    A text of which nothing is known is looked up by its words if it has no error, since a name in
    it begins some library's message as well, and then once more as one of the file that raises it.

    Args:
        pasted: the text.
        installed: gives the version of an installed distribution.
    """
    found = _known(pasted, installed)
    if not (framework := framework_of(found.error, pasted.text)):
        return found
    told = (in_its_words(answer, framework) for answer in found.answers)
    return replace(found, answers=tuple(told))


def _known(pasted: Pasted, installed: Callable[[str], str | None]) -> Found:
    known = _of_whoever_asks(_answered(pasted, installed))
    message = pasted.error.message
    # Python itself says which keyword a function does not take, whoever's it is.
    if known.answers or pasted.error.frames or names.KEYWORD.search(message):
        return known
    if symptoms := described(pasted, installed):
        return Found(tuple(map(of_match, symptoms)), pasted.error)
    if file := raised_in(message):
        error = replace(pasted.error, frames=(Frame(f"site-packages/{file}"),))
        raised = _answered(replace(pasted, errors=(error,)), installed)
        if raised.answers or pasted.error.type:
            return raised
    return known


def _of_whoever_asks(found: Found) -> Found:
    """Say what to do where a library asks, if the text does not show who does."""
    if found.error.frames or not found.by_name or names.OWN.search(found.error.message):
        return found
    hint = shipped_table("known/names.json")["asker not shown"]

    def hinted(answer: Answer) -> str:
        if since := names.GONE_SINCE.search(answer.cause):
            name = since["title"].lower()
            return f"{answer.do} {hint['or'].format(name=name, **since.groupdict())}"
        return f"{answer.do} {hint['do']}"

    return replace(
        found,
        answers=tuple(
            replace(answer, do=hinted(answer))
            if answer.whose == SCRIPT and "(" not in answer.id
            else answer
            for answer in found.answers
        ),
    )


def _answered(pasted: Pasted, installed: Callable[[str], str | None]) -> Found:
    found = matches(pasted, installed)
    is_known = bool(found) and found[0].row.weight > KINDS_ONLY
    known = Found(tuple(map(of_match, found)), found[0].error if found else pasted.error)
    for error in pasted.errors:
        if found and error == found[0].error:
            if names.may_know(error):
                table = names.answers(error, pasted, installed, only_table=is_known)
                if table:  # Rows of less weight fit messages of many kinds.
                    rows = [of_match(match) for match in found if match.row.weight >= 0]
                    known = Found((*rows, *table), error, by_name=not rows)
                else:
                    first, *others = known.answers
                    known = Found((names.with_release(first, error), *others), error)
            break
        if names.may_know(error) and (by_name := names.answers(error, pasted, installed)):
            return Found(tuple(by_name), error, by_name=True)
    if found:
        return known
    if not pasted.error.frames and (parts := rows_with_part(pasted.error)):
        said = tuple(of_match(Match(row, {}, 0.0, pasted.error)) for row in parts)
        return Found(said, pasted.error, is_part=True)
    return known


def entries_with_message(pasted: Pasted, entries: Iterable[Entry]) -> list[Entry]:
    """Return the patches whose bug puts a message on the screen that a text has as a whole.

    An error that does not come through the libraries that a patch changes has to begin with the
    message; what it says in the middle, or of None, may come from anywhere.
    """
    error = pasted.error
    whole, message_on = squeezed(pasted.text), f"{error.message} {error.after}"
    begins = [squeezed(message_on), squeezed(f"{error.type}: {message_on}")]

    def says(entry: Entry, message: str) -> bool:
        if _comes_through(error, entry):
            return message in whole
        if error.message.startswith(OF_NONE):
            return False
        if not error.type:
            return message in whole
        return any(begin.startswith(message) for begin in begins)

    return [
        entry
        for entry in entries
        if any(says(entry, squeezed(message)) for message in entry.patch.messages)
    ]


def entries_with_symptom(pasted: Pasted, entries: Iterable[Entry]) -> list[Entry]:
    """Return the patches whose bug raises an error: by messages, parts of them, then symptoms.

    Parts and symptoms count in a text without a whole error, and where the error comes through the
    libraries that a patch changes.

    Args:
        pasted: an error message, part of one, or a text that contains one.
        entries: the patches to choose from.
    """
    entries = list(entries)
    if found := entries_with_message(pasted, entries):
        return found
    error = pasted.error
    entries = [entry for entry in entries if not error.type or _comes_through(error, entry)]
    part = squeezed(pasted.text)
    return [
        entry
        for entry in entries
        if len(part) >= SHORTEST
        and any(part in squeezed(message) for message in entry.patch.messages)
    ] or [
        entry
        for entry in entries
        if entry.patch.symptom and re.search(entry.patch.symptom, pasted.text, re.IGNORECASE)
    ]


def _comes_through(error: Raised, entry: Entry) -> bool:
    """Tell whether the traceback names a library that a patch changes."""
    return any(frame.library in entry.patch.packages for frame in error.frames)
