"""Write the index of known errors: each message with its causes, and each cause with what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markup import code_block, table, upstream_link

from patchkit.known.answering import answered
from patchkit.known.reading import read
from patchkit.known.rows import Row, all_rows
from patchkit.known.wordings import filled, wording

PAGE = "known-errors.md"
SUBJECTS = {
    "layers": "Dtypes in layers",
    "scaler": "Gradient scaling and optimizers",
    "nan": "NaN and overflow",
    "symptoms": "Symptoms without an error",
    "distributed": "Several processes and devices",
    "quantized": "Quantized models",
    "adapters": "Kinds of adapters, and where they go",
    "installation": "Installation",
    "python-packages": "Other Python packages",
    "devices": "Devices, memory and old GPUs",
    "loading": "Loading and saving",
    "hub": "The Hub, and files",
    "remote-code": "A model's own code",
    "training": "Trainers",
    "data": "Data and tokenizers",
    "processors": "Images, sounds and processors",
    "trl": "TRL's trainers",
    "own-code": "Models and loops of your own",
    "names": "Names and versions",
    "old-scripts": "Scripts of older releases",
    "more": "More",
    "frameworks": "Frameworks",
    "arguments": "Arguments that a library refuses",
    "checks": "What else a library refuses",
}
"""The files of rows, in the order of the page, and their headings."""
_HEAD = """\
# Known errors

What `patchkit explain` and [My error](my-error.md) know, from the same rows: {number} causes of
{messages} messages. What varies in a message stands as `…`. Where a message has several causes, the
likeliest comes first; the traceback, the versions and the words around it may change that order,
and add causes that come with certain files only.
"""


def known_page() -> str:
    """Return the page in Markdown.

    Raises:
        KeyError: a file of rows has no heading here.
    """
    rows = all_rows()
    messages = {said for row in rows for said in row.says}
    lines = [_HEAD.format(number=len(rows), messages=len(messages))]
    for subject in sorted({row.subject for row in rows}, key=list(SUBJECTS).index):
        mine = [row for row in rows if row.subject == subject]
        said = dict.fromkeys(text for row in mine for text in row.says)
        lines += [f"## {SUBJECTS[subject]}", ""]
        if said:
            rows_of_table = ([_code(text), _causes(text)] for text in said)
            lines += [*table(["message", "causes"], rows_of_table), ""]
        for row in mine:
            lines += [*_section(row), ""]
    return "\n".join(lines)


def ids_of(text: str) -> list[str]:
    """Return the rows that answer an example of a wording, as `explain` does without versions."""
    found = answered(read(wording(text).example()), lambda _: None)
    return [answer.id for answer in found.answers if answer.id in _ids()]


@cache
def _ids() -> frozenset[str]:
    return frozenset(row.id for row in all_rows())


@cache
def _ids_by_wording() -> dict[str, list[str]]:
    """Return the rows that have each wording."""
    ids: dict[str, list[str]] = {}
    for row in all_rows():
        for text in dict.fromkeys(row.says):
            ids.setdefault(text, []).append(row.id)
    return ids


def _causes(text: str) -> str:
    first = ids_of(text)
    others = [name for name in _ids_by_wording()[text] if name not in first]
    links = ", ".join(f"[{name}](#{name})" for name in first)
    more = ", ".join(f"[{name}](#{name})" for name in others)
    return "; ".join(filter(None, [links, more and f"with more of the traceback: {more}"]))


def _section(row: Row) -> Iterator[str]:
    yield f"### {row.id} {{#{row.id}}}"
    yield ""
    yield f"{_plain(row.cause)} **Do:** {_plain(row.do)}"
    if row.write:
        yield ""
        yield from code_block("\n".join(map(_without_holes, row.write)))
    parts = [f"Whose: {_plain(row.whose)}." if row.whose else ""]
    parts += [f"Sign: {_plain(row.tell)}" if row.tell else ""]
    if row.patches:
        parts.append(
            f"Fixed by {', '.join(f'[`{name}`](patches/{name}.md)' for name in row.patches)}."
        )
    if row.preflight:
        parts.append(f"Found by [preflight](preflight.md): `{'`, `'.join(row.preflight)}`.")
    if row.links:
        parts.append(f"Upstream: {', '.join(map(upstream_link, row.links))}.")
    if any(parts):
        yield ""
        yield " ".join(filter(None, parts))


def _code(text: str) -> str:
    message = " ".join(wording(text).shown().split())
    fence = "``" if "`" in message else "`"
    return f"{fence} {message} {fence}" if fence == "``" else f"{fence}{message}{fence}"


def _without_holes(text: str) -> str:
    return re.sub(r"\{\w+\}", "…", filled(text, {}))


def _plain(text: str) -> str:
    """Return a sentence without holes; signs that Markdown would take for markup are escaped."""
    parts = _without_holes(text).split("`")
    parts[::2] = [re.sub(r"([\\*_<>\[\]#])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
