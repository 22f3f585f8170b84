"""`python -m workbench anchors`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import click

TOOLS = (
    "axolotl",
    "unsloth",
    "unsloth_zoo",
    "llamafactory",
    "ms_swift",
    "liger_kernel",
    "trl",
    "peft",
)


@click.command()
@click.option(
    "--from",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Read the wheels in this folder, in place of the newest of the package index.",
)
def anchors(folder: Path | None) -> None:
    """Write which texts of rewritten functions other tools look for.

    Reads the newest wheels of frameworks, and the installed libraries; imports neither. The rows go
    to `workbench/anchors/anchors.json`.

    \b
    Exit status:
      0  every text is still found in the rewritten functions, or a patch says why not
      1  one is not
    """
    from .reading import looked_for
    from .rewritten import rewritten_functions
    from .table import Anchor, unexplained, write
    from .table import anchors as anchors_in

    functions = rewritten_functions()
    rows: list[Anchor] = []
    releases: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as downloads:
        for tool in TOOLS:
            wheel = _wheel(tool, folder or Path(downloads), download=folder is None)
            releases[tool] = wheel.name.split("-")[1]
            rows += anchors_in(tool, releases[tool], looked_for(wheel), functions)
    write(rows, releases)
    problems = 0
    for row in rows:
        for name in unexplained(row, functions):
            problems += 1
            click.echo(f"{row.tool} {row.release}, {row.place}: {name} lacks {row.text!r}")
    click.echo(f"{len(rows)} texts in {len(functions)} functions, {problems} not found any more")
    sys.exit(bool(problems))


def _wheel(tool: str, folder: Path, *, download: bool) -> Path:
    """Return the wheel of a tool, downloaded with pip and its configuration if asked for."""
    if download:
        options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder))
        subprocess.run([sys.executable, "-m", "pip", "download", *options, tool], check=True)
    wheels = sorted(folder.glob(f"{tool}-*.whl"))
    if not wheels:
        raise click.ClickException(f"{folder} has no wheel of {tool}")
    return wheels[-1]
