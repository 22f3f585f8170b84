"""`--format` and `--json`: the forms in which a command prints its result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click


def form_options(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command both options; its argument `form` is what the user chose with either.

    Args:
        forms: what may be chosen, the default first; `json` is among them.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_form(*args: Any, form: str | None, as_json: bool, **options: Any) -> Any:
            if as_json and form not in (None, "json"):
                raise click.UsageError(f"--json and --format {form} contradict each other")
            chosen = "json" if as_json else form or forms[0]
            return command(*args, form=chosen, **options)

        add_form = click.option(
            "--format",
            "form",
            type=click.Choice(forms),
            help=f"What is printed.  [default: {forms[0]}]",
        )
        add_json = click.option(
            "--json", "as_json", is_flag=True, help="The same as --format json."
        )
        return add_form(add_json(with_form))

    return decorate
