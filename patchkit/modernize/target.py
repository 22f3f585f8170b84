"""The releases that scripts are to run with."""

from __future__ import annotations

from ..environment import installed_version, readable_version
from ..errors import UnreadableVersion, UsageError
from ..legacy.rows import all_rows
from ..legacy.versions.due import Due
from ..legacy.versions.releases import named_releases, releases
from ..legacy.wording import release


def due_for(to: str | None = None) -> Due:
    """Return the rows of the table that matter to a script of other releases.

    Args:
        to: the releases to write it for, as `trl==1.16.0, transformers==5.23.0`. A library that
            is not named has the installed release; the newest that the table knows if it is not
            installed.

    Raises:
        UsageError: the releases make no sense.
    """
    from packaging.version import Version

    named: dict[str, str] = {}
    if to is not None:
        for library, version in named_releases(to, f"--to {to!r}").items():
            newest = releases()[library][-1]
            is_installed = str(version) == installed_version(library)
            if version > Version(newest) and not is_installed:
                raise UsageError(
                    f"--to {to!r}: {release(f'{library} {version}')} is newer than {newest}, the "
                    "newest that patchkit's table knows, and is not installed"
                )
            named[library] = str(version)

    def version_of(library: str) -> str | None:
        return named.get(library) or _installed(library) or _newest(library)

    return Due(all_rows(), version_of)


def _newest(library: str) -> str | None:
    """Return the newest release of a library that the table knows."""
    from packaging.version import Version

    if known := releases().get(library, ()):
        return known[-1]
    changes = (row.gone.partition(" ")[2] for row in all_rows() if row.library == library)
    return max(filter(None, changes), key=Version, default=None)


def _installed(library: str) -> str | None:
    try:
        return readable_version(library)
    except UnreadableVersion as error:
        known = releases().get(library, ())
        named = f", or name its release: --to {library}=={known[-1]}" if known else ""
        raise UsageError(f"{error}; {error.advice}{named}") from error
