"""Give the page that looks up a pasted error its form, and its data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from legacy_page import heading
from links import plain_text
from markdown.extensions.toc import slugify
from quoted_errors import Quoted, quoted_errors

from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.catalogue.explanation import explain
from patchkit.catalogue.pasted import BEGINNINGS, CONTROLS, LETTERS
from patchkit.catalogue.symptoms import QUOTES, SHORTEST
from patchkit.legacy import explanation as legacy
from patchkit.legacy.changes import Change, Gone, Keyword, Moved
from patchkit.legacy.rows import all_rows

PAGE = "my-error.md"
DATA = "javascripts/my_error_data.js"
COMMON = ("trl", "peft", "transformers", "accelerate", "bitsandbytes")
"""Libraries that are there wherever TRL trains adapters."""
FORM = "<!-- form -->"
_FORM = """\
<div id="lookup" data-root="{root}" hidden>
<label for="pasted">Traceback, or its last lines</label>
<textarea id="pasted" rows="9" spellcheck="false" autocomplete="off"></textarea>
<div id="answers" aria-live="polite"></div>
</div>
<noscript><p>This box needs JavaScript. Without it, look your error up under
<a href="{root}errors/index.html">error messages</a> and
<a href="{root}legacy/index.html#what-has-changed">what has changed</a>, or run
<code>patchkit explain "…"</code>.</p></noscript>
{loads}"""
_ELSEWHERE_IN_PYTHON = re.compile(r"\(\?(?!:|=|!)|\\[AZ]|[*+?}]\+")
"""Signs of a regular expression that JavaScript lacks, or reads differently."""


def fill_in(text: str, root: str) -> str:
    """Put the form into the page.

    Args:
        text: the page.
        root: the relative address of the site's first page.

    Raises:
        ValueError: the page does not mark the place exactly once.
    """
    if text.count(FORM) != 1:
        raise ValueError(f"docs/{PAGE} must contain {FORM} exactly once")
    scripts = (DATA, "javascripts/find_answers.js", "javascripts/my_error.js")
    loads = "\n".join(f'<script src="{root}{script}"></script>' for script in scripts)
    return text.replace(FORM, _FORM.format(root=root, loads=loads))


def data(
    catalogue: Catalogue, docs: Path, addresses: Mapping[str, str], titles: Mapping[str, str]
) -> str:
    """Return a script that holds all that the page looks an error up in.

    Args:
        catalogue: the patches.
        docs: the folder of pages.
        addresses: page in docs/ to its file on the site.
        titles: page in docs/ to its name in the navigation.

    Raises:
        ValueError: a symptom cannot be written in JavaScript.
    """
    found = {
        "controls": in_javascript(CONTROLS),
        "beginnings": in_javascript(BEGINNINGS),
        "letters": LETTERS,
        "quotes": QUOTES.pattern,
        "shortest": SHORTEST,
        "patterns": {
            "keyword": in_javascript(legacy.KEYWORD_ERROR.pattern),
            "name": in_javascript(legacy.NAME_ERROR.pattern),
            "module": in_javascript(legacy.MODULE_ERROR.pattern),
            "attribute": in_javascript(legacy.ATTRIBUTE_ERROR.pattern),
        },
        "patches": [_patch(entry, addresses) for entry in sorted(catalogue, key=_rank)],
        "changes": [change for row in all_rows() if (change := _change(row, addresses))],
        "quoted": [_quoted(error, addresses, titles) for error in quoted_errors(docs)],
    }
    return f"const PATCHKIT = {json.dumps(found)};\n"


def in_javascript(pattern: str) -> str:
    """Return a regular expression of Python for JavaScript's flag `u`.

    Raises:
        ValueError: it has signs that differ there.
    """
    if found := _ELSEWHERE_IN_PYTHON.search(pattern):
        raise ValueError(f"JavaScript has no {found[0]!r}, or another one: {pattern!r}")
    return pattern


def _rank(entry: Entry) -> tuple[bool, bool]:
    """Sort patches of common libraries first, those of rare ones next, and opt-in patches last."""
    return bool(entry.patch.opt_in), entry.patch.library not in COMMON


def _patch(entry: Entry, addresses: Mapping[str, str]) -> dict[str, Any]:
    patch = explain(entry)
    return {
        "id": patch.id,
        "says": plain_text(patch.headline or patch.title),
        "affects": [f"{name} {versions}" for name, versions in patch.affects.items()],
        "asked": patch.opt_in,
        "messages": patch.messages,
        "symptom": in_javascript(entry.patch.symptom),
        "page": addresses[f"patches/{patch.id}.md"],
    }


def _change(row: Change, addresses: Mapping[str, str]) -> dict[str, Any] | None:
    change = legacy.described(row)
    if change is None or not isinstance(row, Keyword | Moved | Gone):
        return None
    owners = {legacy.short_name(owner) for owner in row.owners} if isinstance(row, Keyword) else ()
    return {
        "old": change.old,
        "gone": change.gone,
        "today": change.today,
        "source": change.source,
        "name": row.name,
        "owners": sorted(owners),
        "page": f"{addresses['legacy.md']}#{slugify(heading(change), '-')}",
    }


def _quoted(one: Quoted, addresses: Mapping[str, str], titles: Mapping[str, str]) -> dict[str, str]:
    return {
        "error": one.error,
        "says": one.says,
        "heading": f"{titles[one.page]}: {one.heading}",
        "page": f"{addresses[one.page]}#{one.anchor}",
    }
