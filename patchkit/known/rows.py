"""The known errors, as data: one file of rows for each kind, in `rows/`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..about import shipped_table

FOLDER = Path(__file__).parent / "rows"
SINCE = "known/since.json"
"""Read off wheels, one of each minor release: of Transformers 4.36 to 5.23, and of others."""
MESSAGES = "messages.json"
"""What several rows share, by name: a row says `@name` of wordings, files and expressions, and
`"like": "name"` of other parts of a row."""


@dataclass(frozen=True)
class Row:
    """One cause of an error.

    Args:
        id: its name, for tests and links.
        says: wordings of the message; see `wordings`.
        words: choices of words of a description without an error; see `symptoms`.
        without: words of which such a description has none, with bars between them.
        cause: what it is, in a sentence; holes of the wordings may stand in it, `{message}`, the
            error's own, and `{caller}`, the library whose line of the traceback asks (`{asking}` is
            its package).
        do: what to do, in a sentence or two.
        write: the line to write, or the command.
        whose: who has to act: the setting, the library and release, the device.
        tell: what shows that it is this.
        frames: parts of files or functions of the traceback, any of which points to this cause.
        near: regular expressions of words elsewhere in the text that point to it.
        needs: whether it is out of the question without one of `frames` and `near`.
        not_types: classes of errors that it never is.
        only_in: files by class: errors of that class are it only where such a file raises them, as
            what PyTorch's kernels say has the same class.
        where: `elsewhere` if it is only what code of others raises, of which `Raised.is_elsewhere`
            knows; `libraries` if it is out of the question there; empty for any code.
        never: regular expressions of messages that it never is.
        versions: the distributions and ranges that have it.
        links: where it is upstream.
        patches: ids of the patches that fix it.
        preflight: findings that say it before training.
        since: the table of `since.json` in which the hole of that name is looked up; the release
            then stands for `{since}`.
        weight: how much likelier it is than other rows with its message, before all else.
        asked: the library that the error speaks of, of which the one that asked stands for
            `{caller}`.
        subject: the file that it stands in.
    """

    id: str
    says: tuple[str, ...]
    cause: str
    do: str
    words: tuple[str, ...] = ()
    without: str = ""
    write: tuple[str, ...] = ()
    whose: str = ""
    tell: str = ""
    frames: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    needs: bool = False
    not_types: tuple[str, ...] = ()
    only_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    where: str = ""
    never: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    preflight: tuple[str, ...] = ()
    weight: float = 0.0
    since: tuple[str, str] | None = None
    asked: str = ""
    subject: str = ""


def since(table: str, name: str) -> str:
    """Return the release of Transformers that brought a model type or a quantization.

    Args:
        table: `model types` or `quantizations`.
        name: as the error names it.

    Returns:
        the release; an empty text if it is older than the file, or not in it.
    """
    release: str = shipped_table(SINCE)[table].get(name, "")
    return release


@cache
def _written() -> tuple[tuple[Mapping[str, Any], str], ...]:
    """Return the rows as they stand in their files, with the subject; the likelier come first."""
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".json"))
    return tuple(
        (written, name.partition("-")[2].removesuffix(".json"))
        for name in names
        if name != MESSAGES
        for written in _read(name)
    )


def _read(name: str) -> Any:
    with open(FOLDER / name, "rb") as file:
        return json.loads(file.read())


@cache
def _shared() -> Mapping[str, Any]:
    shared: dict[str, Any] = _read(MESSAGES)
    return shared


def all_wordings() -> Iterator[tuple[int, str]]:
    """Yield the wordings of all rows, each with the number of its row.

    A message fits few rows, and making the others would take most of the time of an answer.
    """
    for number, (written, _) in enumerate(_written()):
        yield from ((number, said) for said in _spelt_out(written["says"]))


def words_of_field() -> tuple[str, str]:
    """Return the words by which a description is one of this field, and of others; with bars."""
    return "|".join(_shared()["words-field"]), "|".join(_shared()["words-elsewhere"])


def words_alike() -> Mapping[str, list[str]]:
    """Return what is said in several ways in descriptions, by the way in which rows say it."""
    alike: dict[str, list[str]] = _shared()["words-alike"]
    return alike


@cache
def words_of_chinese() -> tuple[tuple[str, str], ...]:
    """Return Chinese words of descriptions, the longest first, each with what it is in English."""
    words = {
        one: english
        for english, chinese in _shared()["words-chinese"].items()
        for one in chinese.split("|")
    }
    return tuple(sorted(words.items(), key=lambda pair: -len(pair[0])))


@cache
def all_words() -> tuple[tuple[int, tuple[str, ...], str], ...]:
    """Return the words of the rows that have some, and those that rule it out, by its number."""
    return tuple(
        (number, _choices(written["words"]), written.get("without", ""))
        for number, (written, _) in enumerate(_written())
        if "words" in written
    )


@cache
def row_at(number: int) -> Row:
    """Return one of the rows, by its number."""
    written, subject = _written()[number]
    if like := written.get("like"):
        written = {**_shared()[like], **{key: written[key] for key in written if key != "like"}}
    content: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in written.items()
    }
    for key in ("says", "frames", "never"):
        content[key] = _spelt_out(written.get(key, ()))
    content["words"] = _choices(written.get("words", ()))
    if "only_in" in written:
        content["only_in"] = {name: _spelt_out(files) for name, files in written["only_in"].items()}
    return Row(**content, subject=subject)


def _spelt_out(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        each for text in texts for each in (_shared()[text[1:]] if text.startswith("@") else [text])
    )


def _choices(words: Iterable[str]) -> tuple[str, ...]:
    return tuple("|".join(_spelt_out(choice.split("|"))) for choice in words)


@cache
def all_rows() -> tuple[Row, ...]:
    """Return the rows, the likelier before the rarer ones of the same message."""
    return tuple(map(row_at, range(len(_written()))))
