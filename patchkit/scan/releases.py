"""Which releases of a library there are, and which of them say something about its patches."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..environment import in_range
from ..errors import UsageError
from ..patch import Patch
from . import client
from .errors import ScanError

_NONE = "0+none"
"""A version that no release has."""

_NAMED = re.compile(r"(?:from versions: |following yanked versions: )([^)\n]*)")


@dataclass(frozen=True)
class Listing:
    """The releases of a library.

    Args:
        versions: all that are known, pre-releases too, the oldest first.
        doubt: why there may be more; empty where there are not.
    """

    versions: tuple[str, ...]
    doubt: str = ""


def listed(library: str, kept: Iterable[str]) -> Listing:
    """Ask the package index for the releases of a library.

    Args:
        library: a distribution.
        kept: the releases that can be had without the index.

    Raises:
        ScanError: none is known; or there is no pip.
    """
    # What pip says where no release fits names them all; `pip index versions` leaves yanked ones
    # out. Nothing is downloaded.
    answer = client.ask(
        "download", "--pre", "--no-deps", "--dest", tempfile.gettempdir(), f"{library}=={_NONE}"
    )
    doubt = ""
    if answer.unreached:
        doubt = f"the package index was not reached: other releases of {library} may exist"
    elif "No matching distribution" not in answer.messages:
        doubt = f"the releases of {library} cannot be listed: {answer.error}"
    named = [one for found in _NAMED.findall(answer.messages) for one in found.split(",")]
    versions = in_order({*map(str.strip, named), *(kept if doubt else ())})
    if not versions:
        if doubt:
            raise ScanError(f"{doubt}; --from takes a folder of wheels instead")
        raise ScanError(f"the package index knows no {library}, or has no release of it")
    return Listing(tuple(versions), doubt)


def in_order(versions: Iterable[str]) -> list[str]:
    """Versions, the oldest first, without those that are none."""
    from packaging.version import InvalidVersion, Version

    parsed = {}
    for text in versions:
        try:
            parsed[text] = Version(text)
        except InvalidVersion:
            continue
    return sorted(parsed, key=parsed.__getitem__)


def in_question(
    versions: Sequence[str], patches: Iterable[Patch], wanted: str = "", *, newest: bool = False
) -> list[str]:
    """The releases to scan: by default from the first that a patch claims to one after the last.

    So a patch that claims all from some release on is looked for in all later ones, and where no
    patch does, the first release that is mended shows that it is.

    Args:
        versions: all releases, the oldest first.
        patches: those of the library.
        wanted: a range that is scanned instead. Pre-releases are left out unless it names one.
        newest: only the last of them.

    Raises:
        UsageError: `wanted` is no range.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted_range = SpecifierSet(wanted)
    except InvalidSpecifier:
        raise UsageError(f"{wanted!r} is not a version range such as '>=0.26,<2'") from None
    early = bool(wanted_range.prereleases)
    chosen = [one for one in versions if wanted_range.contains(one, prereleases=early)]
    if not wanted:
        ranges = {patch.affects[patch.library] for patch in patches}
        claimed = [
            number
            for number, version in enumerate(chosen)
            if any(in_range(version, one) for one in ranges)
        ]
        chosen = chosen[claimed[0] : claimed[-1] + 2] if claimed else []
    return chosen[-1:] if newest else chosen
