"""The arguments of `apply`: from a call, or from a command line to each of its interpreters."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ..legacy.choice import Choice
from ..legacy.choice import checked as checked_legacy
from ..settings import Selection, check_flag, dtype_name, names_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..catalogue.folders import Paths


class Choices:
    """The arguments of `apply`, checked as far as that takes no patch.

    Args:
        only: ids and globs; None for all that are due.
        exclude: ids and globs.
        strict: whether a patch that is due and cannot be applied raises.
        dtype: the name of a precision, such as `float16`, or None.
        keywords: what patches offer, by name: a value for a setting, True or False for an opt-in
            patch, where None leaves it as it is.
        patches: absolute paths of folders and files of more patches.
        legacy: what the legacy layer is to do, as `legacy.choice.checked` gives it.
        verbose: whether `patchkit run` prints a line for each interpreter.
        explain: whether it answers the error that an interpreter dies of; None for as the variable
            says.
        quiet: whether it says nothing at the end of the command.
    """

    only: tuple[str, ...] | None
    exclude: tuple[str, ...]
    strict: bool
    dtype: str | None
    keywords: Mapping[str, object]
    patches: tuple[Path, ...]
    legacy: Choice
    verbose: bool
    explain: bool | None
    quiet: bool

    def __init__(
        self,
        only: Selection = None,
        exclude: Selection = None,
        *,
        strict: bool = False,
        dtype: object = None,
        preflight: bool | None = None,
        keywords: Mapping[str, object] | None = None,
        patches: Paths | None = None,
        legacy: object = None,
        verbose: bool = False,
        explain: bool | None = None,
        quiet: bool = False,
    ) -> None:
        """Check the arguments: those of `apply`, and those that only `patchkit run` has.

        Raises:
            UsageError: one is of another kind, or there is no such folder of patches.
        """
        check_flag("strict", strict)
        if preflight is not None:
            check_flag("preflight", preflight)
            keywords = {**(keywords or {}), "preflight": preflight}
        checked_values = {
            "only": None if only is None else names_of(only, "only="),
            "exclude": () if exclude is None else names_of(exclude, "exclude="),
            "strict": strict,
            "dtype": None if dtype is None else dtype_name(dtype),
            "keywords": dict(keywords or {}),
            "patches": () if patches is None else _paths(patches),
            "legacy": checked_legacy(legacy),
            "verbose": verbose,
            "explain": explain,
            "quiet": quiet,
        }
        vars(self).update(checked_values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choices) and vars(self) == vars(other)

    @property
    def is_plain(self) -> bool:
        """Whether it is that of a call without arguments."""
        return self == Choices()

    def switches(self, opt_ins: Collection[str]) -> dict[str, bool]:
        """Return what is switched on or off: opt-in patches by their keywords, and `legacy`.

        Raises:
            UsageError: the value of one is neither True nor False.
        """
        switches: dict[str, bool] = {}
        for name, value in self.keywords.items():
            if name in opt_ins and value is not None:
                switches[name] = check_flag(name, value)
        if self.legacy is not None:
            switches["legacy"] = bool(self.legacy)
        return switches

    def encode(self) -> str:
        """Return it as text; an empty `only` reads as none at all, and no command line has one."""
        return json.dumps(vars(self), default=str, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> Choices:
        """Read what `encode` wrote, here or in another version, which may have other entries.

        Raises:
            UsageError: as for `Choices`.
        """
        written = json.loads(text)
        values = {name: written[name] for name in vars(Choices()) if name in written}
        return cls(**{**values, "only": values["only"] or None})


def _paths(patches: Paths) -> tuple[Path, ...]:
    from ..catalogue.folders import resolve_paths  # few calls name any

    return tuple(resolve_paths(patches))
