"""`python -m workbench upstream`."""

from __future__ import annotations

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("tests", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--seconds", default=60.0, show_default=True, help="Stop a test that takes longer; it fails."
)
@click.pass_context
def upstream(context: click.Context, tests: tuple[str, ...], seconds: float) -> None:
    """Run a library's own tests without patchkit and with it, and compare how each ends.

    TESTS are files or folders, and options of pytest. They run three times, each time in a process
    of their own: plainly, after `patchkit.apply()`, and after `patchkit.apply(legacy=True)`.
    Random numbers are seeded before each test.

    \b
    Examples:
      python -m workbench upstream ../accelerate-1.15.0/tests/test_hooks.py
      python -m workbench upstream ../peft-0.21.2/tests/test_mixed.py -k lora
    \b
    Exit status:
      0  every test that passes without patchkit passes with it
      1  one does not
    """
    from .comparing import UpstreamDifference, compare

    harm = False
    for found in compare(tests, seconds):
        if isinstance(found, UpstreamDifference):
            harm |= found.is_harm
            click.echo(f"  {found.test}")
            for way, end in (("plain", found.plain), (found.way, found.patched)):
                click.echo(f"    {way}: {f'{end.outcome} {end.text}' if end else 'not found'}")
        else:
            click.echo(found)
    context.exit(int(harm))
