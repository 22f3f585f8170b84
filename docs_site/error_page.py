"""The list of error messages, for the page that people find with one."""

from __future__ import annotations

from markup import code_block, ranges

from patchkit.catalogue.entries import Catalogue
from patchkit.catalogue.explanation import Explanation, explain

MESSAGES = "<!-- messages -->"
SILENT = "<!-- silent -->"


def fill_in(text: str, catalogue: Catalogue) -> str:
    """The page with its lists.

    Raises:
        ValueError: the page does not say where they go.
    """
    patches = [explain(entry) for entry in catalogue]
    for place, lines in ((MESSAGES, _messages(patches)), (SILENT, _silent(patches))):
        if text.count(place) != 1:
            raise ValueError(f"docs/errors.md must have {place} in one place")
        text = text.replace(place, "\n".join(lines))
    return text


def _messages(patches: list[Explanation]) -> list[str]:
    found: dict[str, list[Explanation]] = {}
    for one in patches:
        for message in one.messages:
            found.setdefault(message, []).append(one)
    lines = []
    for message, causes in found.items():
        lines += [f"## {_heading(message)}", "", *code_block(message), ""]
        lines += [_cause(one) for one in sorted(causes, key=lambda it: bool(it.opt_in))]
        lines.append("")
    return lines


def _silent(patches: list[Explanation]) -> list[str]:
    return [_cause(one) for one in patches if not one.messages]


def _cause(one: Explanation) -> str:
    said = f"Said before training by [`{one.id}`](patches/{one.id}.md)"
    mended = f"Mended by [`{one.id}`](patches/{one.id}.md)"
    return f"- {one.headline} ({ranges(one.affects)}) {said if one.opt_in else mended}."


def _heading(message: str) -> str:
    """As text: a message may hold what Markdown would take for markup."""
    for sign in "\\`*_<>[]#":
        message = message.replace(sign, "\\" + sign)
    return message
