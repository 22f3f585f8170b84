"""Give the page that looks up a pasted error what the releases of each library had."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from patchkit.about import shipped_table
from patchkit.known import history
from patchkit.known.rows import SINCE
from patchkit.modernize.history import LibraryHistory, Releases, shipped


def history_data(in_javascript: Callable[[str], str]) -> dict[str, Any]:
    """Return what all releases have, the bounds of the rest, and what `history` goes by.

    Args:
        in_javascript: gives a regular expression of Python for JavaScript.
    """
    places: dict[str, dict[str, list[str]]] = {}
    keywords: dict[str, dict[str, list[str]]] = {}
    for place in sorted(set(_places())):
        module, _, name = place.rpartition(".")
        _add(places, module, name, history.bounds(place))
    for library in shipped().libraries.values():
        for owner, taken in library.keywords.items():
            for keyword in taken:
                _add(keywords, owner, keyword, history.bounds_of_own(owner, keyword))
    patterns = {
        "fileOfModel": history.FILE_OF_MODEL,
        "ofFamily": history.OF_FAMILY,
        "inAList": history.IN_A_LIST,
        "ofAModel": history.OF_A_MODEL,
    }
    return {
        "places": _joined(places),
        "keywords": _joined(keywords),
        "libraries": {name: _whole(known) for name, known in shipped().libraries.items()},
        "lacking": dict(_lacking()),
        "titles": history.TITLES,
        "others": list(history.OTHERS),
        "firstRead": {library: history.first_read(library) for library in history.TITLES},
        "firstPackages": history.FIRST_PACKAGES,
        "compiled": history.COMPILED.pattern,
        **{name: in_javascript(pattern.pattern) for name, pattern in patterns.items()},
        "mostUsed": sorted(history.MOST_USED),
        "argumentsOfTrl": history.ARGUMENTS_OF_TRL,
        "homes": history.HOMES,
        "unsloth": history.UNSLOTH,
    }


def _whole(known: LibraryHistory) -> dict[str, Any]:
    """Return what all releases of a library have, and which they are."""
    packages = {name for name in (*known.modules, *known.always) if name.count(".") == 1}
    return {
        "first": known.releases[0],
        "last": known.releases[-1],
        "isComplete": known.is_complete,
        "always": " ".join(sorted(known.always)),
        "packages": " ".join(sorted(packages)),
        "names": {
            module: " ".join(_unbounded(known, names))
            for module, names in {**known.names, " modules": known.modules}.items()
        },
        "keywords": {
            owner: " ".join(_unbounded(known, taken)) for owner, taken in known.keywords.items()
        },
        "takenFrom": {owner: list(bases) for owner, bases in known.taken_from.items()},
    }


def _unbounded(known: LibraryHistory, names: Mapping[str, Releases]) -> Iterator[str]:
    """Yield the names that neither came nor left with a release."""
    for name, there in names.items():
        if name and there and not any(history.ends(known.releases, there)):
            yield name


def _lacking() -> Iterator[tuple[str, str]]:
    """Yield places that the first and the last release have, and the releases without them."""
    for library, known in shipped().libraries.items():
        for module, names in known.names.items():
            for name in _unbounded(known, names):
                without = [each for each in known.releases if each not in names[name]]
                place = re.sub(r"\.+", ".", f"{library}.{module}.{name}")
                if without:
                    yield place, f"{without[0]} to {without[-1]}" if without[1:] else without[0]


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
