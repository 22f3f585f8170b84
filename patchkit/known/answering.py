"""Answer an error: from the rows, from the table of old spellings, and from the history."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import names
from .answer import Answer, of_match
from .choosing import KINDS_ONLY, SHORTEST, Match, matches, rows_with_part
from .reading import Pasted, Raised
from .rows import all_rows
from .wordings import squeezed

if TYPE_CHECKING:
    from ..catalogue.entries import Entry


PYTHONS_OWN = ("AttributeError", "IndexError", "KeyError", "TypeError")
"""Errors that Python mostly words itself, in the same way for all code."""


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

    Args:
        pasted: the text.
        installed: gives the version of an installed distribution.
    """
    found = matches(pasted, all_rows(), installed)
    is_known = bool(found) and found[0].row.weight > KINDS_ONLY
    known = Found(tuple(map(of_match, found)), found[0].error if found else pasted.error)
    for error in pasted.errors:
        if found and error == found[0].error:
            if names.may_know(error):
                table = names.answers(error, pasted, installed, only_table=is_known)
                if table:  # Rows of less weight fit messages of many kinds.
                    rows = [of_match(match) for match in found if match.row.weight >= 0]
                    known = Found((*rows, *table), error, by_name=not rows)
            break
        if names.may_know(error) and (by_name := names.answers(error, pasted, installed)):
            return Found(tuple(by_name), error, by_name=True)
    if found:
        return known
    if not pasted.error.frames and (parts := rows_with_part(pasted.error.message, all_rows())):
        said = tuple(of_match(Match(row, {}, 0.0, pasted.error)) for row in parts)
        return Found(said, pasted.error, is_part=True)
    return known


def entries_with_message(pasted: Pasted, entries: Iterable[Entry]) -> list[Entry]:
    """Return the patches whose bug puts a message on the screen that a text has as a whole.

    An error whose traceback names libraries has to come through one that the patch changes. Any
    other has to begin with the message, and what Python words itself may come from anywhere.
    """
    error = pasted.error
    whole = squeezed(f"{error.message} {error.after}" if _is_bare(error) else pasted.text)
    is_said = whole.startswith if _is_bare(error) else whole.__contains__
    return [
        entry
        for entry in entries
        if _may_raise(entry, error)
        and any(is_said(squeezed(message)) for message in entry.patch.messages)
    ]


def entries_with_symptom(pasted: Pasted, entries: Iterable[Entry]) -> list[Entry]:
    """Return the patches whose bug raises an error: by messages, parts of them, then symptoms.

    A whole error is found by its message alone where its traceback names no library.

    Args:
        pasted: an error message, part of one, or a text that contains one.
        entries: the patches to choose from.
    """
    entries = [entry for entry in entries if _may_raise(entry, pasted.error)]
    found = entries_with_message(pasted, entries)
    if found or _is_bare(pasted.error):
        return found
    part, line = squeezed(pasted.text), pasted.text
    return [
        entry
        for entry in entries
        if len(part) >= SHORTEST
        and any(part in squeezed(message) for message in entry.patch.messages)
    ] or [
        entry
        for entry in entries
        if entry.patch.symptom and re.search(entry.patch.symptom, line, re.IGNORECASE)
    ]


def _is_bare(error: Raised) -> bool:
    """Tell whether an error is there as a whole, but not what of a library raised it."""
    return bool(error.type) and not any(frame.library for frame in error.frames)


def _may_raise(entry: Entry, error: Raised) -> bool:
    """Tell whether an error may come from the code that a patch changes."""
    libraries = {frame.library for frame in error.frames if frame.library}
    if libraries:
        return not libraries.isdisjoint(entry.patch.packages)
    return error.type not in PYTHONS_OWN
