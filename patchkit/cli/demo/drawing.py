"""Draw with matplotlib under our own settings, and write reproducible files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import PatchError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1f2328"
PALE = "#59636e"
FRAME = "#b8bec5"
_SETTINGS = {
    "svg.hashsalt": "patchkit",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.monospace": ["DejaVu Sans Mono", "Menlo", "Consolas"],
}
_METADATA: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "svg": lambda title, maker: {"Date": None, "Creator": maker, "Title": title},
    "png": lambda title, maker: {"Software": maker},
    "pdf": lambda title, maker: {"CreationDate": None, "Creator": maker, "Title": title},
}


class PictureError(PatchError):
    """A picture cannot be drawn or written."""


@contextmanager
def matplotlib_style() -> Iterator[None]:
    """Draw with matplotlib's defaults and our settings instead of the user's.

    Raises:
        PictureError: matplotlib is absent.
    """
    try:
        from matplotlib import style
    except ImportError as error:
        raise PictureError(
            f"a picture needs matplotlib ({error}): pip install matplotlib"
        ) from error
    with style.context(["default", _SETTINGS]):
        yield


def as_bytes(figure: Figure, form: str, *, title: str, maker: str) -> bytes:
    """Return a figure as bytes, which are the same for the same figure and matplotlib."""
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=160, metadata=_METADATA[form](title, maker))
    return file.getvalue()


def check_picture_file(path: Path, option: str) -> None:
    """Refuse a picture that cannot be drawn, before any work is done.

    Raises:
        UsageError: the ending is unknown.
        PictureError: matplotlib is absent.
    """
    if path.suffix.lower().removeprefix(".") not in _METADATA:
        endings = ", ".join(f".{form}" for form in _METADATA)
        raise UsageError(f"{option} {path.name}: the ending must be one of {endings}")
    with matplotlib_style():
        pass
