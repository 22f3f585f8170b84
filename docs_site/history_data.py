"""Give the page that looks up a pasted error what the releases of each library had."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from patchkit.about import shipped_table
from patchkit.known import history
from patchkit.known.answer import Answer
from patchkit.known.pasted import Frame, Raised
from patchkit.known.rows import SINCE
from patchkit.modernize.history import shipped
from patchkit.whose import REMOTE_CODE

_CALLER = "setfit"
"""A library that stands for the one whose line asks for a name."""
ASKS = {"": "script", _CALLER: "library", REMOTE_CODE: "remoteCode"}
"""Whose line asks for a name, by what is asked here in its place."""
_OF_OLD, _CAME, _OLDER, _GONE = "0.0.1", "9999.2", "9999.1", "9999.3"
"""Releases that stand for those of an error; no library has them."""


def history_data() -> dict[str, Any]:
    """Return the bounds of names and keywords, and what is said of one that is outside of them."""
    places: dict[str, dict[str, list[str]]] = {}
    keywords: dict[str, dict[str, list[str]]] = {}
    for place in sorted(set(_places())):
        module, _, name = place.rpartition(".")
        _add(places, module, name, history.bounds(place))
    for library in shipped().libraries.values():
        for owner, taken in library.keywords.items():
            for keyword in taken:
                _add(keywords, owner, keyword, history.bounds_of_keyword(owner, keyword))
    said = {library: _said(library) for library in history.TITLES}
    found = {"places": _joined(places), "keywords": _joined(keywords), "said": said}
    first = {library: history.first_read(library) for library in history.TITLES}
    return {
        **found,
        "others": list(history.OTHERS),
        "firstRead": first,
        "compiled": history.COMPILED.pattern,
    }


def _places() -> Iterator[str]:
    for library, known in shipped().libraries.items():
        for module, names in known.names.items():
            yield from (f"{library}.{module}.{name}".replace("..", ".") for name in names)
        yield from (f"{library}.{module}" for module in known.modules if module)
        yield from (f"{library}.{name}" for name in known.always)
    tables = [shipped_table(SINCE)[table].items() for table in ("names", "earlier")]
    for library, by_bounds in chain(*tables):
        for modules in by_bounds.values():
            for module, names in modules.items():
                yield f"{library}.{module}".rstrip(".")
                yield from (
                    f"{library}.{module}.{name}".replace("..", ".") for name in names.split()
                )


def _add(
    table: dict[str, dict[str, list[str]]], owner: str, name: str, bounds: tuple[str, ...]
) -> None:
    if any(bounds[-2:]):
        named = table.setdefault(owner, {}).setdefault(
            " ".join(release or "-" for release in bounds), []
        )
        if name not in named:
            named.append(name)


def _joined(table: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, str]]:
    return {
        owner: {bounds: " ".join(names) for bounds, names in below.items()}
        for owner, below in table.items()
    }


def _said(library: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the answers for a name, by the state of it and whose line asks for it."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for asks, key in ASKS.items():
        frames = (Frame(f"site-packages/{asks}/file.py", "function"),) if asks else ()
        error = Raised("ImportError", "", frames)
        if error.caller(library) != asks:
            raise ValueError(f"{asks!r} is read as {error.caller(library)!r}")
        for state, version in (("notYet", None), ("older", _OLDER), ("newer", _CAME)):
            answer = history.not_yet("{name}", _CAME, library, version, error)
            found.setdefault(state, {})[key] = _with_holes(answer, version)
        of_old = history.not_yet("{name}", _OF_OLD, library, None, error)
        found.setdefault("ofOld", {})[key] = _with_holes(of_old, None)
        gone = history.has_left("{name}", _GONE, library, error)
        found.setdefault("gone", {})[key] = _with_holes(gone, None)
    asking = (Frame(f"site-packages/{library}/file.py", "<module>"),)
    error = Raised("ImportError", "", asking)
    [own] = history.asks_itself(f"{library}.module.name", library, error)
    cause = own.cause.replace(f"{library}.module.name", "{name}")
    found["ownFile"] = {"script": {**_with_holes(own, None), "cause": cause}}
    return found


def _with_holes(answer: Answer, version: str | None) -> dict[str, Any]:
    def with_holes(text: str) -> str:
        if version == _CAME:  # The only one that is named twice.
            text = text.replace(f" {_CAME} is installed", " {version} is installed")
        holes = {
            _OF_OLD: "{came}",
            _OLDER: "{version}",
            _CAME: "{came}",
            _GONE: "{gone}",
            _CALLER: "{caller}",
        }
        for written, hole in holes.items():
            text = text.replace(written, hole)
        return text

    return {
        "cause": with_holes(answer.cause),
        "do": with_holes(answer.do),
        "write": [with_holes(line) for line in answer.write],
        "whose": with_holes(answer.whose),
    }
