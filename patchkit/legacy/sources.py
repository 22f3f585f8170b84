"""Where changes are written down."""

from __future__ import annotations

_HOME = "https://github.com/huggingface"


def notes(release: str) -> str:
    """Return the address of the notes on a release.

    Args:
        release: the library and the release: `trl 0.13.0`.
    """
    library, _, number = release.partition(" ")
    return f"{_HOME}/{library}/releases/tag/v{number}"


def pull(library: str, number: int) -> str:
    """Return the address of a pull request."""
    return f"{_HOME}/{library}/pull/{number}"


def file_of(release: str, path: str) -> str:
    """Return the address of a file as it is in a release.

    Args:
        release: the library and the release: `trl 0.13.0`.
        path: the file, in the library's repository.
    """
    library, _, number = release.partition(" ")
    return f"{_HOME}/{library}/blob/v{number}/{path}"
