"""List the error messages, for the page that people find by searching for one."""

from __future__ import annotations

from markup import code_block, ranges

from patchkit.catalogue.entries import Catalogue
from patchkit.catalogue.explanation import Explanation, explain

MESSAGES = "<!-- messages -->"
SILENT = "<!-- silent -->"


def fill_in(text: str, catalogue: Catalogue) -> str:
    """Put the lists into the page.

    Raises:
        ValueError: the page does not mark their place exactly once.
    """
    patches = [explain(entry) for entry in catalogue]
    for place, lines in ((MESSAGES, _messages(patches)), (SILENT, _silent(patches))):
        if text.count(place) != 1:
            raise ValueError(f"docs/errors.md must contain {place} exactly once")
        text = text.replace(place, "\n".join(lines))
    return text


def _messages(patches: list[Explanation]) -> list[str]:
    by_message: dict[str, list[Explanation]] = {}
    for patch in patches:
        for message in patch.messages:
            by_message.setdefault(message, []).append(patch)
    lines = []
    for message, causes in by_message.items():
        lines += [f"## {_heading(message)}", "", *code_block(message), ""]
        lines += [_cause(patch) for patch in sorted(causes, key=lambda patch: bool(patch.opt_in))]
        lines.append("")
    return lines


def _silent(patches: list[Explanation]) -> list[str]:
    return [_cause(patch) for patch in patches if not patch.messages]


def _cause(patch: Explanation) -> str:
    service = "Reported before training by" if patch.opt_in else "Fixed by"
    link = f"[`{patch.id}`](patches/{patch.id}.md)"
    return f"- {patch.headline} ({ranges(patch.affects)}) {service} {link}."


def _heading(message: str) -> str:
    """Escape the signs of a message that Markdown would take for markup."""
    for sign in "\\`*_<>[]#":
        message = message.replace(sign, "\\" + sign)
    return message
