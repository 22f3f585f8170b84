"""Answer an error: from the rows, from the table of old spellings, and from the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import names
from .answer import Answer, of_match
from .choosing import Match, matches, rows_with_part
from .reading import Pasted, Raised
from .rows import all_rows


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
    known = Found(tuple(map(of_match, found)), found[0].error if found else pasted.error)
    for error in pasted.errors:
        if found and error == found[0].error:
            break
        if names.may_know(error) and (by_name := names.answers(error, pasted, installed)):
            return Found(tuple(by_name), error, by_name=True)
    if found:
        return known
    if not pasted.error.frames and (parts := rows_with_part(pasted.error.message, all_rows())):
        said = tuple(of_match(Match(row, {}, 0.0, pasted.error)) for row in parts)
        return Found(said, pasted.error, is_part=True)
    return known
