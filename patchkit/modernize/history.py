"""Which release of a library has which name, module and keyword.

All comes from `legacy/versions/history.json`, which `python -m workbench releases --history` makes
from released wheels.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from ..legacy.versions.releases import history as read_history

Releases = frozenset[str]
"""Releases of one library."""
Together = Mapping[str, Releases]
"""Library to releases: something is there if each of these libraries has one of its releases."""

ANY = "*"
"""Stands among the classes whose keywords are taken, if any other keyword is taken, too."""


class LibraryHistory:
    """What the releases of a library have.

    Attributes:
        releases: that were read, the oldest first.
        is_complete: whether a name of which nothing is known is in none of them.
        always: names and modules that all have, of which nothing else is written down.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.is_complete: bool = content["complete"]
        self.releases: tuple[str, ...] = tuple(content["releases"].split())
        self.always: frozenset[str] = frozenset(content.get("always", "").split())
        self._content = content

    @cached_property
    def modules(self) -> dict[str, Releases]:
        """The modules, without the library's name."""
        return self._ungrouped(self._content["modules"])

    @cached_property
    def names(self) -> dict[str, dict[str, Releases]]:
        """By module, the names that do not come and go with it; all names of the top module."""
        return self._by_place("names")

    @cached_property
    def keywords(self) -> dict[str, dict[str, Releases]]:
        """By class, function or method the keywords that are its own."""
        return self._by_place("keywords")

    @cached_property
    def taken_from(self) -> dict[str, dict[str, Releases]]:
        """By class or function whose keywords it takes as well, or `ANY`."""
        return self._by_place("taken_from")

    def _by_place(self, key: str) -> dict[str, dict[str, Releases]]:
        return {place: self._ungrouped(groups) for place, groups in self._content[key].items()}

    def _ungrouped(self, groups: Mapping[str, str]) -> dict[str, Releases]:
        return {
            name: releases
            for written, names in groups.items()
            for releases in [self._read(written)]
            for name in names.split()
        }

    def _read(self, written: str) -> Releases:
        """Read `0.7.0..0.11.4 1.0.0..`."""
        found: set[str] = set()
        for part in written.split():
            first, _, last = part.partition("..")
            begin = self.releases.index(first) if first else 0
            end = self.releases.index(last) if last else len(self.releases) - 1
            found.update(self.releases[begin : end + 1])
        return frozenset(found)


class History:
    """What the releases of the libraries have."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.libraries = {
            name: LibraryHistory(known) for name, known in content.items() if name != "schema"
        }

    def releases(self, library: str) -> tuple[str, ...]:
        """Return all releases that were read, the oldest first."""
        return self.libraries[library].releases

    def nearest(self, library: str, version: str) -> str:
        """Return the newest release that is not newer than a version; the oldest if all are."""
        from packaging.version import Version

        limit = Version(Version(version).base_version)
        known = self.releases(library)
        return next((release for release in reversed(known) if Version(release) <= limit), known[0])

    def place(self, name: str) -> Releases | None:
        """Return the releases that have a name or module.

        Args:
            name: with dots: `trl.SFTTrainer`, `trl.trainer.utils`.

        Returns:
            the releases, none if no release has it; those of the module if nothing is known of the
            name in it; None if nothing is known at all.
        """
        library, _, rest = name.partition(".")
        known = self.libraries.get(library)
        if known is None or not rest:
            return None
        module, _, last = rest.rpartition(".")
        found = known.names.get(module, {}).get(last)
        there = known.modules.get(rest)
        if found is not None or there is not None:
            return (found or frozenset()) | (there or frozenset())
        if module:
            return self.place(f"{library}.{module}")
        return frozenset() if known.is_complete else None

    def keyword(self, owner: str, keyword: str) -> list[Together] | None:
        """Return where a class, function or method takes a keyword.

        Args:
            owner: its public name: `trl.SFTTrainer`; for a method,
                `transformers.PreTrainedModel.from_pretrained`.
            keyword: the keyword.

        Returns:
            the possibilities, any one of which is enough; a release without the class itself is
            one; an empty list if no release has it; None if that is not known.
        """
        library, _, name = owner.partition(".")
        known = self.libraries.get(library)
        if known is None or name not in known.keywords:
            return None
        found: list[Together] = []
        if keyword in known.keywords[name]:
            found.append({library: known.keywords[name][keyword]})
        for base, releases in known.taken_from.get(name, {}).items():
            for there in self.keyword(base, keyword) or () if base != ANY else ():
                found.append({**there, library: releases})
        if not found:
            return None if self._takes_any(owner) else []
        elsewhere = frozenset(known.releases).difference(*known.keywords[name].values())
        return [*found, {library: elsewhere}] if elsewhere else found

    def after(self, owner: str, keyword: str) -> Together | None:
        """Return the releases after the last with a keyword that still take any other."""
        library, _, name = owner.partition(".")
        known = self.libraries[library]
        present = known.keywords[name].get(keyword)
        others = known.taken_from.get(name, {}).get(ANY)
        if not present or not others:
            return None
        last = max(known.releases.index(release) for release in present)
        later = others.intersection(known.releases[last + 1 :])
        return {library: later} if later else None

    def _takes_any(self, owner: str) -> bool:
        """Tell whether some release takes keywords that are not known."""
        library, _, name = owner.partition(".")
        known = self.libraries.get(library)
        if known is None or name not in known.keywords:
            return True
        bases = known.taken_from.get(name, {})
        return any(base == ANY or self._takes_any(base) for base in bases)


@cache
def shipped() -> History:
    """Return the history that came with this installation."""
    return History(read_history())
