"""`python -m workbench ranks`."""

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
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the results in this file. What it has already is not tried again.",
)
@sweep_options
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
    steps, and the ranks are compared. What the first one saves is loaded in a process of its own,
    without patchkit.

    \b
    Examples:
      python -m workbench ranks ddp --trainer sft
      python -m workbench ranks 'fsdp*' 'zero*' --mode bf16/4bit --output ranks.jsonl
    \b
    Exit status:
      0  nothing is worse or different with patchkit
      1  something worked without, and fails or has other numbers with patchkit
    """
    from patchkit.cli.output import progress_bar

    from ..families.modes import select
    from ..sweep.grid import as_table
    from .markdown import as_markdown
    from .records import RankJournal
    from .results import results
    from .sweep import RankSelection, sweep

    check_outputs([output] if output else [], only_show=only_show)
    selection = RankSelection.of(strategies, trainers, select(modes), methods)
    journal = RankJournal(output)
    if only_show:
        check_shown(journal)
    else:
        with told_how_to_go_on(journal.path), progress_bar() as progress:
            sweep(selection, journal, seconds=timeout, progress=progress)
    show_results(results(journal, selection), form, as_table, as_markdown)
