"""List the releases of a library, and select those that say something about its patches."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...environment import in_range
from ...errors import UsageError
from ...patch import Patch
from ..records import ScanError
from . import client

_NONE = "0+none"
"""A version that no release has."""

_NAMED = re.compile(r"(?:from versions: |following yanked versions: )([^)\n]*)")


@dataclass(frozen=True)
class Listing:
    """The known releases of a library, the oldest first; `doubt` says why there may be more."""

    versions: tuple[str, ...]
    doubt: str = ""


def list_releases(library: str, cached: Iterable[str]) -> Listing:
    """Ask the package index for the releases of a library; if it fails, take those in the cache.

    Raises:
        ScanError: no release is known, or there is no pip.
    """
    # If no release fits, pip's error message names all of them; `pip index versions` leaves out
    # yanked ones. Nothing is downloaded.
    answer = client.run_pip(
        "download", "--pre", "--no-deps", "--dest", tempfile.gettempdir(), f"{library}=={_NONE}"
    )
    doubt = ""
    if answer.unreached:
        doubt = f"the package index was not reached: other releases of {library} may exist"
    elif "No matching distribution" not in answer.messages:
        doubt = f"the releases of {library} cannot be listed: {answer.error}"
    numbers = [
        number for listing in _NAMED.findall(answer.messages) for number in listing.split(",")
    ]
    versions = sorted_versions({*map(str.strip, numbers), *(cached if doubt else ())})
    if not versions:
        if doubt:
            raise ScanError(f"{doubt}; --from takes a folder of wheels instead")
        raise ScanError(f"the package index has no {library}, or no release of it")
    return Listing(tuple(versions), doubt)


def sorted_versions(versions: Iterable[str]) -> list[str]:
    """Sort versions, the oldest first, and drop texts that are not versions."""
    from packaging.version import InvalidVersion, Version

    parsed = {}
    for text in versions:
        try:
            parsed[text] = Version(text)
        except InvalidVersion:
            continue
    return sorted(parsed, key=parsed.__getitem__)


def selected_releases(
    versions: Sequence[str], patches: Iterable[Patch], text: str = "", *, newest: bool = False
) -> list[str]:
    """Return the releases to scan: from the first that a patch claims to one after the last.

    A patch that claims all releases from one on is looked for in all of them; otherwise the first
    fixed release is scanned too, which shows that it is fixed. A range in `text` replaces this
    choice; it includes pre-releases only if it names one.

    Raises:
        UsageError: `text` is no range.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        requested = SpecifierSet(text)
    except InvalidSpecifier:
        raise UsageError(f"{text!r} is not a version range such as '>=0.26,<2'") from None
    prereleases = bool(requested.prereleases)
    selection = [
        version for version in versions if requested.contains(version, prereleases=prereleases)
    ]
    if not text:
        ranges = {patch.affects[patch.library] for patch in patches}
        claimed = [
            number
            for number, version in enumerate(selection)
            if any(in_range(version, affected) for affected in ranges)
        ]
        selection = selection[claimed[0] : claimed[-1] + 2] if claimed else []
    return selection[-1:] if newest else selection
