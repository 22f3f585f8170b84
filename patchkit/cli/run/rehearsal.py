"""Try the choices once, before a command runs, as each of its interpreters will."""

from __future__ import annotations

import difflib
import warnings
from typing import TYPE_CHECKING

from ...engine.choices import Choices
from ...engine.deferred import is_environment_silent
from ...errors import UsageError
from ...legacy.versions.releases import named_releases
from ...settings import ARGUMENTS
from ...text import short_list

if TYPE_CHECKING:
    from ...catalogue.entries import Catalogue


def check(choices: Choices) -> None:
    """Refuse choices that no interpreter could carry out.

    Patches that drift here are no obstacle: the command may use another environment.

    Raises:
        UsageError: a name or a value is wrong.
    """
    if (
        choices == Choices(verbose=choices.verbose, explain=choices.explain, quiet=choices.quiet)
        and is_environment_silent()
    ):
        return  # nothing can go wrong, and reading the patches takes most of the start-up time
    from ...engine.session import SESSION

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # An invalid variable matters only if no option overrides it.
        legacy = False if choices.legacy is False else None
        with SESSION.patched(Choices(only=(), patches=choices.patches, legacy=legacy)):
            _check_names(choices, SESSION.catalogue)
            with SESSION.patched(Choices(**{**vars(choices), "strict": False})):
                """Whatever else is wrong has raised an error by now."""


def _check_names(choices: Choices, catalogue: Catalogue) -> None:
    only = catalogue.matching_ids(choices.only, "--only")
    both = only & catalogue.matching_ids(choices.exclude, "--exclude")
    if only and only == both:
        raise UsageError(
            f"--only and --exclude contradict each other: both name {short_list(sorted(both))}"
        )
    if isinstance(choices.legacy, str):
        named_releases(choices.legacy, f"--written-for {choices.legacy!r}")
    offered = {setting.name: setting for setting in catalogue.settings}
    for name, value in choices.keywords.items():
        if isinstance(value, bool):
            _check_opt_in("--opt-in" if value else "--opt-out", name, catalogue.opt_ins)
        elif name in offered:
            offered[name].check(value, f"--set {name}")
        else:
            hint = f"; use --opt-in {name}" if name in catalogue.opt_ins else ""
            hint = f"; use --{name}" if name in ARGUMENTS else hint
            raise UsageError(
                f"--set: no patch has a setting {name!r}{hint}. There are: "
                f"{', '.join(sorted(offered)) or 'none'}"
            )


def _check_opt_in(option: str, name: str, opt_ins: list[str]) -> None:
    if name not in opt_ins:
        near = difflib.get_close_matches(name, opt_ins, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"{option}: no patch has the keyword {name!r}. {hint}"
            f"There are: {', '.join(opt_ins) or 'none'}"
        )
