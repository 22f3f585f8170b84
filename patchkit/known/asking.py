"""Where to ask about an error that nothing here knows, and a report to paste there."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..libraries import with_role
from .pasted import REPOSITORIES, Pasted

_REPORTED = (*with_role("measured"), "deepspeed", "unsloth")
_SECRETS = re.compile(
    r"\b(?:hf_|ghp_|gho_|github_pat_|sk-|xoxb-|AKIA|glpat-)[\w-]{10,}|\b[0-9a-f]{40}\b"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"
    r"|(?i:(?<=token=)|(?<=api_key=)|(?<=password=))[^\s,)&]+"
)
_MOST_LETTERS = 20_000


def where_to_ask(pasted: Pasted) -> str:
    """Return the address for the library in which the error was raised; empty if none is known."""
    for frame in reversed(pasted.error.frames):
        if repository := REPOSITORIES.get(frame.library):
            return f"https://github.com/{repository}/issues"
    return ""


def report(text: str, installed: Callable[[str], str | None], system: str) -> str:
    """Return a report in Markdown, without secrets; paths and names are for the caller to remove.

    Args:
        text: what was pasted.
        installed: gives the version of an installed distribution.
        system: Python and the platform.
    """
    versions = [f"{name} {version}" for name in _REPORTED if (version := installed(name))]
    traceback = _SECRETS.sub("<secret>", text[-_MOST_LETTERS:]).strip("\n")
    return (
        "### Environment\n\n"
        f"{', '.join([system, *versions])}\n\n"
        "### Error\n\n"
        f"```text\n{traceback}\n```\n\n"
        "### What I ran\n\n(the lines that lead to it)\n"
    )
