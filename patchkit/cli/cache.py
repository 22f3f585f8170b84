"""`patchkit cache`: what is kept between processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..engine.kept import KeptResults


@click.group(invoke_without_command=True, short_help="Say what is kept between processes.")
@click.pass_context
def cache(ctx: click.Context) -> None:
    """Say what patchkit keeps between processes, or clear it.

    The results of rewrites are kept, so that not each process works them out again. What they
    depend on is looked at before they are used: nobody has to clear them. PATCHKIT_CACHE says
    where they are, and PATCHKIT_CACHE=off keeps none. The sources that `matrix scan` has read
    are not cleared.

    \b
    Examples:
      patchkit cache
      patchkit cache clear

    Exit status: 0; 1 if something cannot be deleted.
    """
    if ctx.invoked_subcommand is not None:
        return
    from ..engine.kept import KeptResults

    click.echo(described(KeptResults()))


@cache.command(short_help="Delete what is kept.")
def clear() -> None:
    """Delete what the rewrites came to, of all environments.

    Exit status: 0; 1 if something cannot be deleted.
    """
    from ..engine import kept
    from ..text import plural

    try:
        count = kept.clear()
    except OSError as error:
        raise click.ClickException(
            f"{error.filename} cannot be deleted: {error.strerror}"
        ) from None
    click.echo(f"{plural(count, 'file')} deleted.")


def described(results: KeptResults) -> str:
    """Return a sentence about what is kept for this environment."""
    from ..text import plural

    if not results.path:
        return f"Nothing is kept: {results.reason}."
    if not len(results):
        return f"Nothing is kept yet; it will be in {results.path}."
    size = plural(max(os.path.getsize(results.path) // 1000, 1), "kB").removesuffix("s")
    return f"{plural(len(results), 'result')} of rewrites are kept, {size}, in {results.path}."
