"""Asks once, before a command runs, what each of its interpreters will be asked."""

from __future__ import annotations

import dataclasses
import warnings

import patchkit

from ..catalogue import Catalogue
from ..errors import UsageError
from ..session import SESSION
from ..settings import RESERVED
from .choices import Choices


def check(choices: Choices) -> None:
    """Refuse choices that no interpreter could carry out.

    Patches that drift here are no obstacle: the command may use another environment.

    Raises:
        UsageError: a name or a value is wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with patchkit.patched((), patches=choices.patches or None):
            _check_names(choices, SESSION.catalogue)
            with patchkit.patched(**dataclasses.replace(choices, strict=False).arguments()):
                """Whatever else is wrong was raised by now."""


def _check_names(choices: Choices, catalogue: Catalogue) -> None:
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
