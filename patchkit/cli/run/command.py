"""`patchkit run`."""

from __future__ import annotations

import os
import sys

import click

from ...text import split_names
from ..arguments import PatchId

EXAMPLE = "patchkit run -- accelerate launch train.py"


@click.command(
    short_help="Run a command, patched in each of its interpreters.",
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--only",
    multiple=True,
    type=PatchId(),
    metavar="ID",
    help="Apply only this patch: an id or a glob; may be repeated.",
)
@click.option(
    "--exclude",
    multiple=True,
    type=PatchId(),
    metavar="ID",
    help="Leave this patch out: an id or a glob; may be repeated.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Stop if a patch that is needed cannot be applied; fail at the end if one was replaced.",
)
@click.option(
    "--dtype",
    type=click.Choice(["fp16", "bf16", "fp32"]),
    help="The precision you train in, if it is not the one in the training arguments.",
)
@click.option(
    "--preflight/--no-preflight",
    default=None,
    help="Check the model before each training, and stop on errors; or do not, whatever "
    "PATCHKIT_PREFLIGHT says.",
)
@click.option(
    "--opt-in",
    multiple=True,
    metavar="NAME",
    help="Turn on a patch that is applied only on request, by its keyword; may be repeated.",
)
@click.option(
    "--opt-out",
    multiple=True,
    metavar="NAME",
    help="Turn such a patch off, whatever its variable says; may be repeated.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of a patch, such as adapter_cast=bf16; may be repeated.",
)
@click.option(
    "--patches",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True, resolve_path=True),
    help="Also load patches from this folder or .py file; may be repeated. "
    "PATCHKIT_PATCHES does the same.",
)
@click.option(
    "--legacy/--no-legacy",
    default=None,
    help="Let names, keywords and flags of older releases work, and say each once; or do not, "
    "whatever PATCHKIT_LEGACY says.",
)
@click.option(
    "--written-for",
    metavar="VERSIONS",
    help="As --legacy, with the defaults of these versions: 'trl==0.11.4, transformers==4.44.2'.",
)
@click.option(
    "--explain/--no-explain",
    default=None,
    help="Say in a few lines what a known error is that the command dies of, and what to do; or do "
    "not, whatever PATCHKIT_EXPLAIN says. It does by default.",
)
@click.option("-v", "--verbose", is_flag=True, help="Print one line per interpreter.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Do not say at the end, on standard error, whether all patches were in force.",
)
@click.argument("command", nargs=-1, type=click.Path(readable=False), metavar="COMMAND...")
def run(
    only: tuple[str, ...],
    exclude: tuple[str, ...],
    strict: bool,
    dtype: str | None,
    preflight: bool | None,
    opt_in: tuple[str, ...],
    opt_out: tuple[str, ...],
    settings: tuple[str, ...],
    patches: tuple[str, ...],
    legacy: bool | None,
    written_for: str | None,
    explain: bool | None,
    verbose: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run a command with patchkit applied in each of its interpreters.

    Patches are applied as the command starts, and in each Python that it starts in any way. This
    process becomes the command: arguments, input, signals and exit status are its own, and nothing
    is left on disk. A known error that it dies of is explained below the traceback. At the end one
    line on standard error says that all patches were in force, or who replaced what.

    Not reached are `python -I`, `-E` and `-S`, which ignore PYTHONPATH, and programs that a shell
    script starts with its own PYTHONPATH or with `env -i`. --verbose shows what was reached.

    \b
    Exit status: that of the command, or
      64   the options do not make sense
      78   with --strict: of an interpreter in which a patch that is needed
           cannot be applied, and of a command that ends without an error of
           its own though a patch was not in force to the end
      126  the command cannot be executed
      127  the command was not found
    \b
    Examples:
      patchkit run -- python train.py --fp16
      patchkit run -- accelerate launch --num_processes 2 train.py
      patchkit run --only 'trl-*' --strict -- torchrun --nproc_per_node 2 train.py
      patchkit run --legacy -- python train_2024.py
      patchkit run --verbose -- bash train.sh
    """
    from ...engine.choices import Choices
    from .launch import CannotRunError, launch
    from .rehearsal import check
    from .variables import command_environment

    if not command:
        raise click.UsageError(f"which command? For instance: {EXAMPLE}")
    if written_for is not None and not written_for.strip():
        raise click.UsageError("--written-for is empty; for instance: 'trl==0.11.4'")
    if written_for is not None and legacy is False:
        raise click.UsageError("--written-for and --no-legacy contradict each other")
    choices = Choices(
        only=split_names(only) or None,
        exclude=split_names(exclude),
        strict=strict,
        dtype=dtype,
        keywords={**dict(map(_name_and_value, settings)), **_switches(opt_in, opt_out, preflight)},
        patches=patches,
        legacy=legacy if written_for is None else written_for,
        verbose=verbose,
        explain=explain,
        quiet=quiet,
    )
    check(choices)
    try:
        sys.exit(launch(command, command_environment(os.environ, choices.encode())))
    except CannotRunError as error:
        click.echo(f"patchkit run: {error}", err=True)
        sys.exit(error.status)


def _switches(
    opt_in: tuple[str, ...], opt_out: tuple[str, ...], preflight: bool | None
) -> dict[str, bool]:
    on, off = split_names(opt_in), split_names(opt_out)
    if preflight is not None:
        (on if preflight else off).append("preflight")
    if both := set(on).intersection(off):
        raise click.UsageError(f"{min(both)} is both switched on and switched off")
    return {**dict.fromkeys(on, True), **dict.fromkeys(off, False)}


def _name_and_value(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise click.UsageError(f"--set takes NAME=VALUE, not {text!r}")
    return name, value
