"""Asks once, before a command runs, what each of its interpreters will be asked."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING

import patchkit

from ..deferred import is_nothing_said
from ..errors import UsageError
from .choices import Choices

if TYPE_CHECKING:
    from ..catalogue import Catalogue


def check(choices: Choices) -> None:
    """Refuse choices that no interpreter could carry out.

    Patches that drift here are no obstacle: the command may use another environment.

    Raises:
        UsageError: a name or a value is wrong.
    """
    if choices == Choices(verbose=choices.verbose) and is_nothing_said():
        return  # nothing to go wrong, and reading the patches takes most of the time of a start
    from ..session import SESSION

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with patchkit.patched((), patches=choices.patches or None):
            _check_names(choices, SESSION.catalogue)
            with patchkit.patched(**dataclasses.replace(choices, strict=False).arguments()):
                """Whatever else is wrong was raised by now."""


def _check_names(choices: Choices, catalogue: Catalogue) -> None:
    from ..settings import RESERVED

    catalogue.named(choices.only, "--only")
    catalogue.named(choices.exclude, "--exclude")
    offered = {setting.name: setting for setting in catalogue.settings}
    for name, value in choices.settings.items():
        if name not in offered:
            also = f"; --{name} is an option of its own" if name in RESERVED else ""
            raise UsageError(
                f"--set: no patch has a setting {name!r}{also}. There are: "
                f"{', '.join(sorted(offered)) or 'none'}"
            )
        offered[name].check(value, f"--set {name}")
