"""The command line; each command imports what it needs when it is called."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from . import __version__
from .errors import PatchError


class _Group(click.Group):
    """Turns our own errors into one line and exit status 2, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PatchError as error:
            raise click.UsageError(str(error)) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="patchkit")
def main() -> None:
    """Mend the precision bugs of TRL, PEFT, Transformers, Accelerate and bitsandbytes."""


@main.command()
@click.option(
    "--trainer",
    type=click.Choice(["sft", "dpo", "reward", "kto", "grpo", "rloo", "distillation"]),
    default="sft",
    show_default=True,
)
@click.option("--steps", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option(
    "--precision",
    type=click.Choice(["fp16", "bf16", "fp32"]),
    default="fp16",
    show_default=True,
)
@click.option(
    "--quantization",
    type=click.Choice(["4bit", "8bit", "none"]),
    default="4bit",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def demo(**options: Any) -> None:
    """Train a tiny model with TRL, without patchkit and then with it.

    Exit status: 0 if the training with patchkit went through, 1 if not.
    """
    from .demo import run

    sys.exit(run(**options))


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def report(as_json: bool) -> None:
    """What is due here, what is not, and why.

    Nothing is applied: a command line is a process of its own.
    """
    from rich.console import Console

    import patchkit

    from .rendering import as_table

    current = patchkit.report()
    if as_json:
        click.echo(current.to_json())
    else:
        Console().print(as_table(current))


@main.command()
@click.argument("ids", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def verify(ids: tuple[str, ...], as_json: bool) -> None:
    """Show each due bug without its patch, and its absence with it.

    IDS are patch ids or globs; all by default. Exit status: 0 if all is well, 1 if a patch does
    not mend, 2 if a bug that is due does not show (it may be fixed upstream).
    """
    from .verification import verify as run

    verification = run(
        ids or None, progress=lambda patch_id: click.echo(f"{patch_id} ...", err=True)
    )
    if as_json:
        click.echo(json.dumps(verification.to_dict(), indent=2))
    else:
        for one in verification:
            click.echo(f"{one.outcome:<15} {one.id}")
            click.echo(f"    without it: {one.without}")
            if one.with_patch:
                click.echo(f"    with it:    {one.with_patch}")
    sys.exit(verification.exit_status)


@main.group()
def matrix() -> None:
    """What was measured, on which versions."""


@matrix.command()
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The matrix to write; that of this installation by default.",
)
@click.argument("ids", nargs=-1)
def record(path: Path | None, ids: tuple[str, ...]) -> None:
    """Verify the patches IDS (all by default) here, and merge the verdicts into the matrix."""
    from .measurement import record as run

    for line in run(path, ids or None):
        click.echo(line)


if __name__ == "__main__":
    main()
