"""`python -m workbench frameworks`."""

from __future__ import annotations

from pathlib import Path

import click

from ..sweep.options import (
    check_outputs,
    check_shown,
    show_results,
    sweep_options,
    told_how_to_go_on,
)

MARKS = "<!-- frameworks: begin -->", "<!-- frameworks: end -->"
"""What stands before and behind the results in a page."""
MEASURED = Path(__file__).parent / "measured"
"""The folder of the results that the page is made of."""


@click.command()
@click.argument("frameworks", nargs=-1)
@click.option(
    "--set", "version_set", metavar="SET", help="Only frameworks that this version set installs."
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="TASK",
    help="A task such as sft, or a glob; may be repeated.  [default: all]",
)
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="A mode such as bf16/4bit, a glob such as 'fp16*/4bit', `quick` or `all`; may be "
    "repeated.  [default: quick]",
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    type=click.Choice(("run", "legacy")),
    help="How patchkit is loaded; may be repeated.  [default: both]",
)
@click.option(
    "--output",
    "outputs",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Keep the results in this file. What it has already is not tried again. With --show it "
    "may be repeated; without it, --show takes the results that are kept in the checkout.",
)
@click.option(
    "--into",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Write the Markdown into this page, between its two marks.",
)
@sweep_options
def frameworks(
    frameworks: tuple[str, ...],
    version_set: str | None,
    tasks: tuple[str, ...],
    modes: tuple[str, ...],
    ways: tuple[str, ...],
    timeout: float,
    outputs: tuple[Path, ...],
    into: Path | None,
    only_show: bool,
    form: str,
) -> None:
    """Train with frameworks as their users start them, plainly and with patchkit.

    FRAMEWORKS are names such as llama-factory, or globs; all by default. Each training is a command
    of its own: plain, under `patchkit run`, and under `patchkit run --legacy`. It takes three
    steps with a tiny model on this CPU; fp16 takes CUDA's path. Losses, gradient norms, dtypes and
    the weights that were trained are compared to the last digit.

    \b
    Examples:
      python -m workbench frameworks trl --task sft
      python -m workbench frameworks --show --into docs/frameworks.md
    \b
    Exit status:
      0  nothing is worse or different with patchkit
      1  something worked without, and fails or has other numbers with patchkit
    """
    from patchkit.cli.output import progress_bar

    from ..families.modes import select
    from ..sweep.grid import as_table
    from ..sweep.pages import write
    from .markdown import as_markdown
    from .records import FrameworkJournal
    from .results import results
    from .sweep import FrameworkSelection, sweep

    if only_show and not outputs:
        outputs = tuple(sorted(MEASURED.glob("*.jsonl")))
    check_outputs(outputs, only_show=only_show)
    selection = FrameworkSelection.of(frameworks, version_set, tasks, select(modes), ways)
    journals = [FrameworkJournal(output) for output in outputs or (None,)]
    if only_show:
        for journal in journals:
            check_shown(journal)
    else:
        with told_how_to_go_on(journals[0].path), progress_bar() as progress:
            sweep(selection, journals[0], seconds=timeout, progress=progress)
    found = results(journals, selection)
    if into is not None:
        write(f"{as_markdown(found)}\n", into, MARKS)
    show_results(found, form, as_table, as_markdown)
