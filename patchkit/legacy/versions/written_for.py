"""The releases that a script was written for, as its user names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..wording import release
from .due import known_release
from .releases import named_releases, releases
from .version_sets import sets

if TYPE_CHECKING:
    from packaging.version import Version


@dataclass(frozen=True)
class WrittenFor:
    """Releases that a script was written for.

    Args:
        releases: by library. A library that was not named has the release of the set of versions
            that was run with the one that was.
    """

    releases: Mapping[str, Version]

    def precedes(self, text: str) -> bool:
        """Tell whether the script was written for releases before one.

        Args:
            text: the library and the release, as `trl 0.12.0`. Unknown ones precede none.
        """
        from packaging.version import Version

        library, _, number = text.partition(" ")
        version = self.releases.get(library)
        return version is not None and version < Version(number)

    def __str__(self) -> str:
        return ", ".join(f"{library}=={number}" for library, number in self.releases.items())


def parse(text: str) -> WrittenFor:
    """Read versions such as `trl==0.11.4, transformers==4.44.2`.

    Raises:
        UsageError: they are not written so, or contradict each other, or a version never existed,
            is older than the table, or newer than the installed one.
    """
    named = named_releases(text, f"legacy={text!r}")
    for library, version in named.items():
        _check_installed(text, library, version)
    return WrittenFor({**_companions(named), **named})


def _check_installed(text: str, library: str, version: Version) -> None:
    from packaging.version import Version

    installed = known_release(library)
    if installed is not None and version > Version(installed):
        raise UsageError(
            f"legacy={text!r}: {release(f'{library} {version}')} is newer than the installed "
            f"{installed}; name the release that the script was written for"
        )


def _companions(named: Mapping[str, Version]) -> dict[str, Version]:
    """Return the releases that were run with those that are named."""
    from packaging.version import Version

    companions: dict[str, Version] = {}
    for pins in sets():
        together = {
            library: Version(number)
            for library, equals, number in (pin.partition("==") for pin in pins.split())
            if equals and library in releases()
        }
        if not companions or all(together[library] <= named[library] for library in named):
            companions = together
    installed = {library: known_release(library) for library in companions}
    return {
        library: version
        for library, version in companions.items()
        if installed[library] is not None and version <= Version(str(installed[library]))
    }
