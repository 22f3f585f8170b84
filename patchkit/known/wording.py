"""Put answers on the screen: at most 20 lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ..reporting.status import TABLE, USUAL_STANDING
from ..whose import installed_place
from .answer import Answer
from .answering import Found
from .pasted import Pasted

WIDTH = 80
MOST_LINES = 20
_LABEL = 9


def shown(
    found: Found, pasted: Pasted, statuses: Mapping[str, str], others: Sequence[str] = ()
) -> list[str]:
    """Return the lines that answer an error.

    Args:
        found: the answers.
        pasted: the text.
        statuses: how each patch that they name stands here.
        others: more patches whose bug has this message, and that are due here.
    """
    first, *less_likely = found.answers
    lines = [*_heading(found, pasted)]
    lines += _labelled("what", first.cause)
    lines += _labelled("do", first.do)
    for line in first.write:
        lines.append(" " * (_LABEL + 2) + line)
    lines += _labelled("whose", _whose(first, statuses))
    lines += _labelled("sign", first.tell)
    for link in first.links[:2]:
        lines += [f"{'see':<{_LABEL}}{link}"]
    rest = [_labelled("or", _in_short(answer)) for answer in less_likely]
    if others:
        rest.append(_labelled("also", f"due here with this message: {', '.join(others)}"))
    for more in rest:
        if len(lines) + len(more) <= MOST_LINES:
            lines += more
    return lines[:MOST_LINES]


def understood(pasted: Pasted) -> str:
    """Say what of an unknown error was understood: type, library, file, function, versions."""
    error = pasted.error
    parts = []
    if error.type:
        parts.append(f"{'an' if error.name[0] in 'AEIOU' else 'a'} {error.name}")
    if frame := next((frame for frame in reversed(error.frames) if frame.library), None):
        where = f"{frame.place}, {frame.function}()" if frame.function else frame.place
        parts.append(f"raised in {frame.library} ({where})")
    elif error.frames:
        package = installed_place(error.frames[-1].file).partition("/")[0]
        parts.append(f"raised in {package or 'your own code'}")
    if dtypes := _dtypes(error.message):
        parts.append(f"it speaks of {' and '.join(dtypes)}")
    if pasted.versions:
        named = ", ".join(f"{name} {version}" for name, version in pasted.versions.items())
        parts.append(f"versions named: {named}")
    return "; ".join(parts)


def _heading(found: Found, pasted: Pasted) -> Iterator[str]:
    error = found.error
    if found.is_part:
        yield f"This is a part of {len(found.answers)} known messages; the likeliest:"
        return
    text = f"{error.name}: {error.message}" if error.type else error.message
    yield textwrap.shorten(text, WIDTH, placeholder=" …") or "…"
    if frame := next((frame for frame in reversed(error.frames) if frame.library), None):
        place, function = f"  in {frame.place}", frame.function.rpartition("<locals>.")[2]
        whole = f"{place}, {function}" if function else place
        yield whole if len(whole) <= WIDTH else place
    if (error.type, error.message) != (pasted.error.type, pasted.error.message):
        last = textwrap.shorten(
            f"{pasted.error.name}: {pasted.error.message}", 50, placeholder=" …"
        )
        yield f"  (an earlier error of the text; nothing is known of the last, {last})"


def _whose(answer: Answer, statuses: Mapping[str, str]) -> str:
    parts = [answer.whose.rstrip(".")] if answer.whose else []
    parts += _patches(answer.patches, statuses)
    if answer.preflight:
        parts.append(f"findings of patchkit.preflight(trainer): {', '.join(answer.preflight)}")
    return "; ".join(parts)


def _patches(names: Sequence[str], statuses: Mapping[str, str]) -> Iterator[str]:
    """Say which patches act here, which are not needed here, and which belong elsewhere."""
    standing = {str(row.status): row.standing for row in TABLE}
    named: dict[str, list[str]] = {}
    for name in names:
        said = standing.get(statuses.get(name, ""), USUAL_STANDING)
        named.setdefault(said, []).append(name)
    order = dict.fromkeys((standing["available"], *standing.values()))
    for said in order:
        if said in named:
            yield f"{said}: {', '.join(named[said])}"


def _in_short(answer: Answer) -> str:
    parts = [answer.cause, answer.do, *(f"`{line}`" for line in answer.write[:1])]
    if answer.patches:
        parts.append(f"Patch: {', '.join(answer.patches)}.")
    if answer.tell:
        parts.append(f"Sign: {answer.tell}")
    return " ".join(filter(None, parts))


def _labelled(label: str, text: str) -> list[str]:
    if not text:
        return []
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{label:<{_LABEL}}",
        subsequent_indent=" " * _LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _dtypes(message: str) -> Sequence[str]:
    from .wordings import DTYPES

    words = {word.strip("',.:()`\"").rpartition("::")[2] for word in message.split()}
    found = {word.rpartition("torch.")[2] for word in words}
    return sorted(word for word in found if word.lower() in DTYPES)
