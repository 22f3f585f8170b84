"""Write a view to the terminal or to a file."""

from __future__ import annotations

import json
from pathlib import Path

from ...errors import UsageError
from ..records import MatrixError
from .view import View

_PICTURES = (".svg", ".png")
_ENDINGS = (*_PICTURES, ".md")


def check_ending(path: Path, form: str | None) -> None:
    """Refuse a file whose ending is unknown or contradicts the format.

    Raises:
        UsageError: the ending is unknown, or contradicts `form`.
    """
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(f"--output {path.name}: the ending must be one of {', '.join(_ENDINGS)}")
    if form is not None and (form, ending) != ("markdown", ".md"):
        raise UsageError(f"--format {form} and --output {path.name} contradict each other")


def write(view: View, path: Path) -> None:
    """Write a picture or Markdown, by the ending of the file.

    Raises:
        MatrixError: the file cannot be written, or matplotlib is needed and absent.
    """
    ending = path.suffix.lower()
    if ending in _PICTURES:
        from .picture import draw

        content = draw(view, ending.removeprefix("."))
    else:
        from .markdown import as_markdown

        content = as_markdown(view).encode("utf-8")
    try:
        path.write_bytes(content)
    except OSError as error:
        raise MatrixError(f"cannot write {path}: {error.strerror}") from error


def print_view(view: View, form: str) -> None:
    """Print a view.

    Args:
        view: the view.
        form: `table`, `markdown` or `json`.
    """
    import click

    if form == "json":
        from .data import as_data

        click.echo(json.dumps(as_data(view), indent=2))
    elif form == "markdown":
        from .markdown import as_markdown

        click.echo(as_markdown(view), nl=False)
    else:
        from rich.console import Console

        from .terminal import as_text

        console = Console(highlight=False)
        text = as_text(view, console.width, ascii_only=console.options.ascii_only)
        console.print(text, soft_wrap=True)
