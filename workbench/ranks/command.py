"""`patchkit ranks`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from patchkit.cli.arguments import form_options

from ..kept_results import check_outputs, check_shown, told_how_to_go_on


@click.command()
@click.argument("strategies", nargs=-1)
@click.option(
    "--trainer",
    "trainers",
    multiple=True,
    metavar="TRAINER",
    help="A trainer such as sft, or a glob; may be repeated.  [default: sft, dpo, grpo, reward]",
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
    "--method",
    "methods",
    multiple=True,
    metavar="METHOD",
    help="lora or full; may be repeated.  [default: both]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=120.0,
    show_default=True,
    help="Seconds that each attempt may take.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the results in this file. What it has already is not tried again.",
)
@click.option("--show", "only_show", is_flag=True, help="Try nothing; show what the file has.")
@form_options("table", "markdown", "json")
def ranks(
    strategies: tuple[str, ...],
    trainers: tuple[str, ...],
    modes: tuple[str, ...],
    methods: tuple[str, ...],
    timeout: float,
    output: Path | None,
    only_show: bool,
    form: str,
) -> None:
    """Train with two ranks on this CPU, without patchkit and with it.

    STRATEGIES are ddp, fsdp, fsdp2, zero2 and zero3 (DeepSpeed), each of the last four also with
    -offload; or globs. All by default. The ranks talk by gloo. A tiny model is trained for two
    steps, and the ranks are compared. What the first one saves is loaded in a process by itself,
    without patchkit.

    \b
    Examples:
      patchkit ranks ddp --trainer sft
      patchkit ranks 'fsdp*' 'zero*' --mode bf16/4bit --output ranks.jsonl
    \b
    Exit status:
      0  nothing is worse or other with patchkit
      1  something worked without, and fails or has other numbers with patchkit
    """
    from patchkit.cli.output import progress_bar, show, show_json

    from ..families.modes import select
    from .records import Journal
    from .results import results
    from .sweep import Selection, sweep

    check_outputs([output] if output else [], only_show=only_show)
    selection = Selection.of(strategies, trainers, select(modes), methods)
    journal = Journal(output)
    if only_show:
        check_shown(journal)
    else:
        with told_how_to_go_on(journal.path), progress_bar() as progress:
            sweep(selection, journal, seconds=timeout, progress=progress)
    found = results(journal, selection)
    if form == "json":
        show_json(found.to_dict())
    elif form == "markdown":
        from .markdown import as_markdown

        click.echo(as_markdown(found))
    else:
        from .table import as_table

        show(*as_table(found))
    sys.exit(found.exit_status)
