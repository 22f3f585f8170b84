"""Give the page that looks up a pasted error its form, and its data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from history_data import history_data
from links import plain_text
from quoted_errors import Quoted, quoted_errors

from patchkit.about import shipped_table
from patchkit.catalogue.entries import Catalogue, Entry
from patchkit.catalogue.explanation import explain
from patchkit.known import (
    answering,
    choosing,
    frameworks,
    names,
    pasted,
    raised,
    reading,
    spellings,
    symptoms,
    wordings,
)
from patchkit.known.answer import LONGEST_QUOTED, Answer, titled
from patchkit.known.rows import SINCE, Row, words_alike, words_of_chinese, words_of_field
from patchkit.known.rows import all_rows as known_rows
from patchkit.known.wordings import Wording, squeezed, wording
from patchkit.legacy.changes import Attribute, Gone, Keyword, Moved, Value
from patchkit.legacy.explanation import described, short_name
from patchkit.legacy.rows import all_rows
from patchkit.libraries import LIBRARIES
from patchkit.whose import INSTALLED, REMOTE_CODE

PAGE = "my-error.md"
DATA = "javascripts/my_error_data.js"
_NAMES = ("names", "earlier")
"""Tables of names, which are among those of the history."""
_NEWEST = "9999"
"""A release after all that the history has."""
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
_ELSEWHERE_IN_PYTHON = re.compile(r"\(\?(?!:|=|!|<=|<!|<\w)|\\[AZ]|(?<!\\)[*+?}]\+")
"""Signs of a regular expression that JavaScript lacks, or reads differently."""
_LITERAL = re.compile(r"\[(?:\\.|[^\]\\])+\]|\\\W")


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
    own = ("find_names.js", "find_answers.js", "my_error.js")
    scripts = (DATA, *(f"javascripts/{name}" for name in own))
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
    said = sorted({said for row in known_rows() for said in row.says})
    found = {
        "reading": _reading(),
        "dropped": in_javascript(wordings.DROPPED.pattern),
        "shortest": choosing.SHORTEST,
        "key": choosing.KEY,
        "symptoms": {
            "letters": symptoms.MOST,
            "other": in_javascript(symptoms.OTHER.pattern),
            "title": f"^{in_javascript(symptoms.TITLE.pattern)}",
            "alike": words_alike(),
            "chinese": words_of_chinese(),
            "words": words_of_field(),
        },
        "ofNone": answering.OF_NONE,
        "longestQuoted": LONGEST_QUOTED,
        "noAttribute": in_javascript(choosing.NO_ATTRIBUTE.pattern),
        "weights": {
            "frames": choosing.FRAMES,
            "near": choosing.NEAR,
            "words": choosing.WORDS,
            "inTitle": choosing.IN_TITLE,
            "notThere": choosing.NOT_THERE,
            "notNear": choosing.NOT_NEAR,
            "alike": choosing.ALIKE,
            "least": choosing.LEAST,
            "kindsOnly": choosing.KINDS_ONLY,
        },
        "wordings": [_wording(wording(text)) for text in said],
        "rows": [_row(row, said) for row in known_rows()],
        "raised": {
            "letters": raised.LETTERS,
            "read": raised.READ,
            "files": json.loads(raised.TABLE.read_text(encoding="utf-8")),
        },
        "titles": {name: titled(name) for name in (*LIBRARIES, *_frameworks())},
        "frameworks": {
            "byName": _frameworks(),
            "most": frameworks.MOST,
            "letters": frameworks.LETTERS,
            "vllm": frameworks.VLLM,
            "named": in_javascript(frameworks.NAMED),
            "upgrade": in_javascript(frameworks.UPGRADE),
            "upgraded": in_javascript(frameworks.UPGRADED),
        },
        # Its names are among those of the history.
        "since": {kind: held for kind, held in shipped_table(SINCE).items() if kind not in _NAMES},
        "names": _names(),
        "patches": [_patch(entry, addresses) for entry in sorted(catalogue, key=_rank)],
        "quoted": [_quoted(error, addresses, titles) for error in quoted_errors(docs)],
    }
    return f"const PATCHKIT = {json.dumps(found)};\n"


def in_javascript(pattern: str) -> str:
    """Return a regular expression of Python for JavaScript.

    Raises:
        ValueError: it has signs that differ there.
    """
    pattern = pattern.replace("(?P<", "(?<")
    if found := _ELSEWHERE_IN_PYTHON.search(_LITERAL.sub("x", pattern)):
        raise ValueError(f"JavaScript has no {found[0]!r}, or another one: {pattern!r}")
    return pattern


def _reading() -> dict[str, Any]:
    """Return what `reading` finds errors by."""
    return {
        "controls": in_javascript(reading.CONTROLS),
        "debugger": in_javascript(reading.DEBUGGER.pattern),
        "eaten": in_javascript(reading.EATEN.pattern),
        "letters": reading.LETTERS,
        "longest": reading.LONGEST,
        "longestMessage": reading.LONGEST_MESSAGE,
        "crashed": reading.CRASHED,
        "ignored": in_javascript(reading.IGNORED.pattern),
        "native": in_javascript(reading.NATIVE.pattern),
        "follower": in_javascript(pasted.FOLLOWER.pattern),
        "killed": in_javascript(reading.KILLED.pattern),
        "ended": in_javascript(reading.ENDED.pattern),
        "mostLines": reading.MOST_LINES,
        "libraries": sorted(pasted.LIBRARIES),
        "folders": sorted(pasted.FOLDERS),
        "anyField": sorted(pasted.ANY_FIELD),
        "remoteCode": REMOTE_CODE,
        "installed": in_javascript(INSTALLED),
        "rank": in_javascript(reading.RANK.pattern),
        "prefix": in_javascript(reading.PREFIX.pattern),
        "beginning": in_javascript(reading.BEGINNING.pattern),
        "box": in_javascript(reading.BOX.pattern),
        "rule": in_javascript(reading.RULE.pattern),
        "frames": [in_javascript(pattern.pattern) for pattern in reading.FRAMES],
        "error": in_javascript(reading.ERROR.pattern),
        "inASentence": in_javascript(reading.IN_A_SENTENCE.pattern),
        "errorInside": in_javascript(reading.ERROR_INSIDE.pattern),
        "asserted": in_javascript(reading.ASSERTED.pattern),
        "assertedAbove": reading.ASSERTED_ABOVE,
        "marker": in_javascript(reading.MARKER.pattern),
        "launcher": in_javascript(pasted.LAUNCHER.pattern),
        "foreign": [
            [in_javascript(sign.pattern), "m" if sign.flags & re.MULTILINE else ""]
            for _, sign in reading.FOREIGN
        ],
        "version": in_javascript(reading.VERSION.pattern),
        "python": in_javascript(reading.PYTHON.pattern),
    }


def _wording(known: Wording) -> dict[str, Any]:
    return {
        "literals": known.literals,
        "pattern": in_javascript(known.pattern()),
        "isClosed": known.is_closed,
        "isShort": known.is_short,
        "beginsWord": known.begins_word,
        "last": known.last,
    }


def _row(row: Row, said: list[str]) -> dict[str, Any]:
    content = {key: value for key, value in asdict(row).items() if value and key != "subject"}
    content["says"] = [said.index(text) for text in row.says]
    content["near"] = [in_javascript(word) for word in row.near]
    content["never"] = [in_javascript(word) for word in row.never]
    content["versions"] = {name: _ranges(versions) for name, versions in row.versions.items()}
    content["page"] = f"known-errors/index.html#{row.id}"
    return content


def _ranges(versions: str) -> list[list[str]]:
    """Return the parts of a range that a browser can compare.

    Raises:
        ValueError: it has an operator that the script does not know.
    """
    parts = [re.fullmatch(r"(>=|<|==)(\d[\d.]*?)(\.\*)?", part) for part in versions.split(",")]
    if not all(part and bool(part[3]) == (part[1] == "==") for part in parts):
        raise ValueError(f"the page compares versions by >=, < and ==….*: {versions!r}")
    return [[part[1], part[2]] for part in parts if part]


def _frameworks() -> dict[str, Any]:
    found = shipped_table("known/frameworks.json")
    return {
        name: {**known, "words": in_javascript(known["words"])} for name, known in found.items()
    }


def _names() -> dict[str, Any]:
    """Return what is said of each name of the table, by what an error says of it."""
    places: dict[str, Any] = {}
    modules: dict[str, str] = {}
    keywords: dict[str, Any] = {}
    attributes, values = [], []
    alike: dict[str, list[Any]] = {}
    for row in all_rows():
        if isinstance(row, Moved | Gone):
            module, _, name = row.name.rpartition(".")
            places[row.name] = _answer(f"cannot import name '{name}' from '{module}'", row.library)
            while "." in module:
                modules[module] = row.library
                module = module.rpartition(".")[0]
        elif isinstance(row, Keyword) and described(row) is not None:
            owners = [short_name(owner) for owner in row.owners]
            for owner in ("", *owners):
                called = f"{owner}() " if owner else ""
                error = f"{called}got an unexpected keyword argument '{row.name}'"
                answer = _answer(error, row.library)
                if owner or (answer and re.split(r", |\(", answer["id"])[0] in owners):
                    keywords[f"{owner} {row.name}"] = answer
            own = f"{owners[0]} {row.name}"
            words = sorted(set(map(spellings.last_word, owners)))
            alike.setdefault(row.name, []).append((_rank_of_alike(row), own, words))
        elif isinstance(row, Attribute):
            bases = [short_name(base) for base in row.owners]
            attributes.append(
                {
                    "name": row.name,
                    "bases": bases,
                    "library": row.library,
                    "ofClass": row.of_class,
                    "like": [
                        in_javascript(spellings.KINDS[base])
                        for base in bases
                        if base in spellings.KINDS
                    ],
                    "answer": _answer(
                        f"'{bases[0]}' object has no attribute '{row.name}'", row.library
                    ),
                }
            )
        elif isinstance(row, Value) and row.value:
            pattern = rf"(?<![\w-]){re.escape(row.value)}(?![\w-])"
            answer = _answer(f"ValueError: Unknown {row.value}", row.library)
            values.append({"pattern": in_javascript(pattern), "answer": answer})
    return {
        "patterns": {
            "name": in_javascript(names.NAME.pattern),
            "module": in_javascript(names.MODULE.pattern),
            "attribute": in_javascript(names.ATTRIBUTE.pattern),
            "keyword": in_javascript(names.KEYWORD.pattern),
            "ofObject": in_javascript(names.OF_OBJECT.pattern),
            "flags": in_javascript(names.FLAGS.pattern),
            "flag": in_javascript(names.FLAG.pattern),
            "key": in_javascript(names.KEY.pattern),
            "member": in_javascript(names.MEMBER.pattern),
            "refusedValue": in_javascript(names.REFUSED_VALUE.pattern),
            "own": in_javascript(names.OWN.pattern),
            "ofPackage": in_javascript(names.OF_PACKAGE.pattern),
            "unmistakable": in_javascript(spellings.UNMISTAKABLE.pattern),
        },
        "model": in_javascript(spellings.KINDS["PreTrainedModel"]),
        "values": values,
        "passingOn": sorted(pasted.PASSING_ON),
        "places": {place: answer for place, answer in places.items() if answer},
        "modules": {
            module: _answer(f"No module named '{module}'", library)
            for module, library in modules.items()
        },
        "keywords": {key: answer for key, answer in keywords.items() if answer},
        "attributes": [row for row in attributes if row["answer"]],
        "configuration": in_javascript(spellings.KINDS["TrainingArguments"]),
        "alike": {
            keyword: [found[1:] for found in sorted(rows, key=lambda found: found[0])]
            for keyword, rows in alike.items()
        },
        "lastWords": " ".join(sorted(spellings.last_words())),
        "libraries": list(LIBRARIES),
        "history": history_data(in_javascript),
        "texts": shipped_table("known/names.json"),
        "goneSince": in_javascript(names.GONE_SINCE.pattern),
        "script": answering.SCRIPT,
    }


def _answer(error: str, library: str) -> dict[str, Any] | None:
    """Return what the table says of an error, wherever it is raised, in any release."""
    pasted = reading.read(error)
    found: list[Answer] = names.answers(pasted.error, pasted, lambda _: _NEWEST)
    if not found:
        return None
    content = {key: value for key, value in found[0].to_dict().items() if value}
    return {**content, "library": library}


def _rank_of_alike(row: Keyword) -> tuple[bool, bool]:
    """Sort the rows of a keyword as `names` does where a class is not known."""
    return row.library == "trl", spellings.last_word(row.owners[0]) not in ("Config", "Trainer")


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
        "messages": [squeezed(message) for message in patch.messages],
        "symptom": in_javascript(entry.patch.symptom),
        "packages": sorted(entry.patch.packages),
        "page": addresses[f"patches/{patch.id}.md"],
    }


def _quoted(one: Quoted, addresses: Mapping[str, str], titles: Mapping[str, str]) -> dict[str, str]:
    return {
        "error": one.error,
        "letters": squeezed(one.error),
        "says": one.says,
        "heading": f"{titles[one.page]}: {one.heading}",
        "page": f"{addresses[one.page]}#{one.anchor}",
    }
