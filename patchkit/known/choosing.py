"""Choose among the rows that have a message: frames, versions and the words around it decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from .pasted import Pasted, Raised
from .raised import raised_in
from .rows import (
    Row,
    all_wordings,
    all_words,
    row_at,
    words_alike,
    words_of_chinese,
    words_of_field,
)
from .symptoms import has_words, plain_words, title_of
from .wordings import Squeezed, longest_literal, squeezed, wording

SHORTEST = 16
"""Letters, without blanks, that a part of a message must have to be looked for."""
KEY = 8
"""Letters of a wording that a text is looked through for, before the wording itself."""
# The site weighs rows by the same numbers.
FRAMES, NEAR, NOT_THERE, NOT_NEAR, ALIKE, LEAST = 3.0, 2.0, 3.0, 0.5, 1.5, -1.5
WORDS, IN_TITLE = 0.5, 1.5
KINDS_ONLY = -4.0
"""Rows of less weight know only what kind of complaint a message is."""
_OUTSIDE_HERE = 0.75
_ENDS_WITH_NAME = re.compile(r"\w[`'\"]\s*$")
NO_ATTRIBUTE = re.compile(r"(\w+) has no attribute [`'\"]?(\w+)[`'\"]?$")


@dataclass(frozen=True)
class Match:
    """A row that may be the cause.

    Args:
        row: the row.
        values: what stood in the holes of its message.
        score: how much speaks for it.
        error: the error that has its message.
    """

    row: Row
    values: Mapping[str, str]
    score: float
    error: Raised


def matches(pasted: Pasted, installed: Callable[[str], str | None]) -> list[Match]:
    """Return the rows that are left for the first error that any row knows, the likeliest first.

    Args:
        pasted: what was pasted.
        installed: gives the version of an installed distribution.
    """
    for error in pasted.errors:
        if error.is_warning:
            break  # A log may say more beside its warnings.
        kinds = []
        for text in _texts(error):
            if found := _of(Squeezed(text), error, pasted, installed):
                if found[0].row.weight > KINDS_ONLY:
                    return found
                kinds += found
        if kinds:
            return [max(kinds, key=lambda match: match.score)]
    if not pasted.error.type or pasted.error.is_warning:
        # A log may say it without an error of Python's.
        return _of(Squeezed(pasted.text), pasted.error, pasted, installed)
    return []


def _texts(error: Raised) -> Iterator[str]:
    """Yield where a message may stand: alone, after its class and module, or over an empty line.

    What killed a process stands in the summary that follows a launcher's error.
    """
    if error.is_launchers:
        yield f"{error.type}: {error.message} {error.after}"
    yield error.message
    if short := NO_ATTRIBUTE.match(error.message):  # as tokenizers put it
        yield f"'{short[1]}' object has no attribute '{short[2]}'"
    if error.type:
        yield f"{error.type}: {error.message}"
    if error.after:
        yield f"{error.message} {error.after}"


def rows_with_part(error: Raised) -> list[Row]:
    """Return the rows whose message an error's is a part of, if they need nothing beside it.

    A name in quotes at its end is a whole one: `'get'` is no part of `'get_seq_length'`. What
    follows a class is how a message begins; some wordings have the class, too.
    """
    fragment = squeezed(error.message)
    if len(fragment) < SHORTEST or _ENDS_WITH_NAME.search(error.message):
        return []
    begins = (fragment, squeezed(f"{error.type}: {error.message}"))

    def has_part(said: str) -> bool:
        known = wording(said)
        return known.begins_with(begins) if error.type else known.has_part(fragment)

    numbers = dict.fromkeys(
        number
        for number, said, letters in _squeezed_wordings()
        if any(part in letters for part in begins) and has_part(said)
    )
    return [found for number in numbers if not (found := row_at(number)).needs]


@cache
def _squeezed_wordings() -> tuple[tuple[int, str, str], ...]:
    """Return the wordings of all rows, with the numbers of these and the letters, all at once."""
    numbers, wordings = zip(*all_wordings(), strict=True)
    letters = squeezed("\0".join(wordings)).split("\0")
    return tuple(zip(numbers, wordings, letters, strict=True))


@cache
def _wordings_by_key() -> Mapping[str, list[tuple[int, int, str]]]:
    """Return the wordings of all rows, in order, by the first letters of their longest part.

    Those whose parts are all shorter have the empty text for a key.
    """
    found: dict[str, list[tuple[int, int, str]]] = {}
    for place, (number, said, letters) in enumerate(_squeezed_wordings()):
        longest = longest_literal(letters)
        key = longest[:KEY] if len(longest) >= KEY else ""
        found.setdefault(key, []).append((place, number, said))
    return found


def _of(
    text: Squeezed, error: Raised, pasted: Pasted, installed: Callable[[str], str | None]
) -> list[Match]:
    wordings = _wordings_by_key()
    keys = {text.letters[start : start + KEY] for start in range(len(text.letters))} | {""}
    best: dict[int, tuple[int, Mapping[str, str]]] = {}
    for _, number, said in sorted(said for key in keys & wordings.keys() for said in wordings[key]):
        known = wording(said)
        if (values := known.search(text)) is not None:
            length = sum(map(len, known.literals))
            if number not in best or length > best[number][0]:
                best[number] = length, values
    found = [
        Match(row_at(number), values, score + length / 1000, error)
        for number, (length, values) in best.items()
        if (score := _score(row_at(number), error, pasted, installed)) is not None
    ]
    found.sort(key=lambda match: -match.score)
    if not found or found[0].row.weight <= KINDS_ONLY:
        return found[:1]  # Two kinds would say two things.
    return _likely(found)


def described(pasted: Pasted, installed: Callable[[str], str | None]) -> list[Match]:
    """Return the rows for what a text describes without an error; more words tell more.

    Words of the first sentence tell most, as what follows mentions other things, too.
    """
    if pasted.error.type and not pasted.error.is_warning:
        return []
    words = plain_words(pasted.text, words_alike(), words_of_chinese())
    title = plain_words(title_of(pasted.text), words_alike(), words_of_chinese())
    of_field, of_others = words_of_field()
    if not has_words([of_field], words) or has_words([of_others], words):
        return []
    found = [
        Match(
            row_at(number),
            {},
            score + WORDS * len(choices) + IN_TITLE * has_words(choices, title),
            pasted.error,
        )
        for number, choices, without in all_words()
        if has_words(choices, words) and not (without and has_words([without], words))
        if (score := _score(row_at(number), pasted.error, pasted, installed, True)) is not None
    ]
    return _likely(sorted(found, key=lambda match: -match.score))


def _likely(found: list[Match]) -> list[Match]:
    """Return the first of some rows, and those for which nearly as much speaks."""
    if not found:
        return found
    least = max(LEAST, found[0].score - ALIKE)
    return [match for number, match in enumerate(found) if number == 0 or match.score >= least]


def _score(
    row: Row,
    error: Raised,
    pasted: Pasted,
    installed: Callable[[str], str | None],
    pointed: bool = False,
) -> float | None:
    """Return how much speaks for a row; None if it is out of the question.

    Args:
        row: the row.
        error: the error that has its message.
        pasted: the text that has the error.
        installed: gives the version of an installed distribution.
        pointed: whether the text already points to this cause, and not to the message alone.
    """
    if row.weight <= KINDS_ONLY and (error.is_warning or error.is_launchers):
        return None  # They refuse nothing.
    if error.name in row.not_types or any(re.search(no, error.message) for no in row.never):
        return None
    if (files := row.only_in.get(error.name)) and not _is_raised_in(files, error):
        return None
    if row.where and (row.where == "elsewhere") != error.is_elsewhere:
        return None
    pointed = pointed or (row.where == "elsewhere" and not row.frames)
    score = row.weight
    libraries = [frame for frame in error.frames if frame.library]
    if row.frames:
        # What only knows the kind of a complaint knows nothing of those of other lines.
        lines = error.frames if row.weight > KINDS_ONLY else error.raising
        texts = [f"{frame.place}:{frame.function}" for frame in lines]
        if any(part in text for part in row.frames for text in texts):
            score += FRAMES
            pointed = True
        elif libraries:
            score -= NOT_THERE
    if row.near:
        if any(re.search(word, pasted.text, re.IGNORECASE) for word in row.near):
            score += NEAR
            pointed = True
        else:
            score -= NOT_NEAR
    if not pointed and (row.needs or (row.frames and error.frames)):
        return None  # The files of another cause speak against it, and nothing for it.
    for distribution, versions in row.versions.items():
        named = pasted.versions.get(distribution)
        here = None if named else installed(distribution)
        inside = _is_inside(named or here, versions)
        if inside is None:
            continue
        if named:
            if not inside:
                return None
            score += 1
        elif not inside:
            score -= _OUTSIDE_HERE
        else:
            score += 0.25
    return score


def _is_raised_in(files: tuple[str, ...], error: Raised) -> bool:
    """Tell whether such a file raises an error, or the library itself is known to raise it."""
    place = error.frames[-1].place if error.frames else ""
    if any(part in place for part in files):
        return True
    library = raised_in(error.message).partition("/")[0]
    return bool(library) and place.startswith(f"{library}/")


def _is_inside(version: str | None, versions: str) -> bool | None:
    from ..environment import in_range

    if version is None:
        return None
    try:
        return in_range(version, versions)
    except ValueError:
        return None
