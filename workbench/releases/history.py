"""The interfaces of a library, release by release."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from .interface import Interface
from .signatures import HIDDEN, REQUIRED


@dataclass(frozen=True)
class ReleaseHistory:
    """The interfaces of a library.

    Args:
        library: its name.
        releases: the version to the interface, the oldest first; at least one.
        has_place: tells of a version whether a dotted name is there.
    """

    library: str
    releases: Mapping[str, Interface]
    has_place: Callable[[str, str], bool]

    @property
    def versions(self) -> list[str]:
        return list(self.releases)

    @property
    def newest(self) -> Interface:
        return self.releases[self.versions[-1]]

    def is_within(self, version: str) -> bool:
        """Tell whether a version lies between the first and the last that were read."""
        from packaging.version import Version

        return Version(self.versions[0]) < Version(version) <= Version(self.versions[-1])

    def before(self, version: str) -> str | None:
        """Return the release before a release; None if it was not read."""
        number = self.versions.index(version)
        return self.versions[number - 1] if number else None

    def gone_names(self) -> Iterator[tuple[str, str]]:
        """Yield the exported names that the newest release has not, and since which release."""
        for name in self._ever(lambda interface: interface.names):
            if name not in self.newest.names:
                yield name, self._name_gone(name)

    def gone_keywords(self) -> Iterator[tuple[str, str, str]]:
        """Yield owner, keyword and release for keywords that the newest release has not."""
        for owner, today in self.newest.keywords.items():
            for keyword in self._keywords_ever(owner):
                if keyword not in today:
                    yield owner, keyword, self._keyword_gone(owner, keyword)

    def changed_defaults(self) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
        """Yield owner, keyword, and since when each default was written so, where it changed."""
        for owner, today in self.newest.keywords.items():
            for keyword in today:
                defaults: list[tuple[str, str]] = []
                for version, interface in self.releases.items():
                    default = interface.keywords.get(owner, {}).get(keyword, HIDDEN)
                    if default in (HIDDEN, REQUIRED):
                        continue
                    if not defaults or not _is_same(defaults[-1][1], default):
                        defaults.append((version, default))
                if len(defaults) > 1:
                    yield owner, keyword, defaults

    def announcements(self, name: str) -> int:
        """Return the number of releases in which a name stands near a deprecation."""
        return sum(name in interface.announced for interface in self.releases.values())

    def _keywords_ever(self, owner: str) -> list[str]:
        return self._ever(lambda interface: interface.keywords.get(owner, ()))

    def _name_gone(self, name: str) -> str:
        return self._gone(lambda interface: name in interface.names)

    def _keyword_gone(self, owner: str, keyword: str) -> str:
        return self._gone(lambda interface: keyword in interface.keywords.get(owner, ()))

    def _ever(self, names: Callable[[Interface], Iterable[str]]) -> list[str]:
        """Return what any release has, in the order in which it came."""
        found: dict[str, None] = {}
        for interface in self.releases.values():
            found.update(dict.fromkeys(names(interface)))
        return list(found)

    def _gone(self, has: Callable[[Interface], bool]) -> str:
        """Return the release after the last that has something."""
        last = max(
            number for number, interface in enumerate(self.releases.values()) if has(interface)
        )
        return self.versions[last + 1]


def _is_same(default: str, other: str) -> bool:
    """Tell whether two defaults are the same value, as far as their text shows it."""
    try:
        return bool(ast.literal_eval(default) == ast.literal_eval(other))
    except (ValueError, SyntaxError):
        return default == other
