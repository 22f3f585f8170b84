"""`python -m workbench families`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..sweep.options import (
    check_outputs,
    check_shown,
    show_results,
    sweep_options,
    told_how_to_go_on,
)
from ..sweep.verdicts import OUTCOMES
from .model_types import TASKS


@click.command()
@click.argument("types", nargs=-1)
@click.option(
    "--task",
    "tasks",
    type=click.Choice([*TASKS, "all"]),
    multiple=True,
    help="The kind of model; may be repeated.  [default: causal]",
)
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="A mode such as bf16/4bit, a glob such as 'fp16*/4bit', `quick`, `all`, or `quantizers` "
    "for all but bitsandbytes; may be repeated.  [default: quick]",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="METHOD",
    help="What is trained: full, lora, dora or another method of PEFT, a glob, or `all`; may be "
    "repeated.  [default: lora and full]",
)
@click.option(
    "--memory",
    type=click.FloatRange(0.01),
    default=4.0,
    show_default=True,
    help="GiB that each attempt may take beside the libraries.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of model types tried at once.  [default: number of processors, 4 at most]",
)
@click.option(
    "--output",
    "outputs",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Keep the results in this file. What it has already is not tried again. May be repeated "
    "with --show, which shows several files as one, and without it shows what --keep has kept.",
)
@click.option(
    "--again",
    "outcomes",
    type=click.Choice(list(OUTCOMES)),
    multiple=True,
    help="Only cells that have this outcome in what is kept; may be repeated.",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Put the results into the file of the repository that the page is made of.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the numbers of failing cells by cause into this file, as SVG.",
)
@sweep_options
def families(
    types: tuple[str, ...],
    tasks: tuple[str, ...],
    modes: tuple[str, ...],
    methods: tuple[str, ...],
    memory: float,
    timeout: float,
    jobs: int | None,
    outputs: tuple[Path, ...],
    outcomes: tuple[str, ...],
    keep: bool,
    picture: Path | None,
    only_show: bool,
    form: str,
) -> None:
    """Try model types in real trainings, without patchkit and with it.

    TYPES are names as in `model_type`, or globs; all that the installed Transformers knows by
    default. Of each a tiny model is made. It is loaded, trained for two steps, saved, loaded
    again, made to generate and merged, each time in a process of its own. Nothing is downloaded.

    \b
    Examples:
      python -m workbench families llama 'qwen*'
      python -m workbench families --mode all --output families.jsonl
      python -m workbench families llama --method all
    \b
    Exit status:
      0  nothing is worse or different with patchkit
      1  something worked without, and fails or has other numbers with patchkit
    """
    from patchkit.cli.output import progress_bar

    from . import kept
    from .journal import FamilyJournal
    from .known import count_causes
    from .markdown import as_markdown
    from .methods import select as select_methods
    from .modes import DEFAULT_METHODS
    from .modes import select as select_modes
    from .picture import draw_causes
    from .quantizers_markdown import as_quantizers_page
    from .results import results, verdicts
    from .sweep import FamilySelection, SweepLimits, sweep
    from .table import as_table

    if outputs or not only_show:
        check_outputs(outputs, only_show=only_show)
    chosen_tasks = tasks or ("causal",)
    selection = FamilySelection(
        tasks=tuple(TASKS) if "all" in chosen_tasks else tuple(dict.fromkeys(chosen_tasks)),
        types=types,
        modes=select_modes(modes),
        methods=select_methods(methods, DEFAULT_METHODS),
        among=frozenset(
            verdict.cell for verdict in verdicts(kept.load()) if verdict.outcome.name in outcomes
        )
        if outcomes
        else None,
    )
    journal = FamilyJournal(outputs[0]) if outputs else FamilyJournal(None)
    if only_show and not outputs:
        journal = kept.load()
    for other in outputs[1:]:
        journal.join(FamilyJournal(other))
    if only_show:
        check_shown(journal)
    else:
        with told_how_to_go_on(journal.path), progress_bar() as progress:
            sweep(
                selection,
                journal,
                limits=SweepLimits(memory, timeout),
                jobs=jobs or min(os.cpu_count() or 1, 4),
                progress=progress,
            )
    if keep:
        kept.take_in(journal)
    found = results(journal, selection)
    if picture is not None:
        picture.write_text(draw_causes(count_causes(found.with_outcome("fails"))), encoding="utf-8")
    write = as_quantizers_page if selection.quantizers else as_markdown
    show_results(found, form, as_table, write)
