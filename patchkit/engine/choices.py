"""The arguments of `apply`: from a call, or from a command line to each of its interpreters."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..catalogue.folders import Paths, resolve_paths
from ..catalogue.names import Selection, names_of
from ..legacy.choice import checked as checked_legacy
from ..settings import check_flag, dtype_name


@dataclass(frozen=True, init=False)
class Choices:
    """The arguments of `apply`, checked as far as that takes no patch.

    Args:
        only: ids and globs; None for all that are due.
        exclude: ids and globs.
        strict: whether a patch that is due and cannot be applied raises.
        dtype: the name of a precision, such as `float16`, or None.
        keywords: what patches offer, by name: a value for a setting, and True for an opt-in patch.
        patches: absolute paths of folders and files of more patches.
        legacy: what the legacy layer is to do, as `legacy.choice.checked` gives it.
        verbose: whether `patchkit run` prints a line for each interpreter.
    """

    only: tuple[str, ...] | None
    exclude: tuple[str, ...]
    strict: bool
    dtype: str | None
    keywords: Mapping[str, object]
    patches: tuple[Path, ...]
    legacy: str | None
    verbose: bool

    def __init__(
        self,
        only: Selection = None,
        exclude: Selection = None,
        *,
        strict: bool = False,
        dtype: object = None,
        preflight: bool = False,
        keywords: Mapping[str, object] | None = None,
        patches: Paths | None = None,
        legacy: object = None,
        verbose: bool = False,
    ) -> None:
        """Check the arguments; they are those of `apply`, and one that only `run` has.

        Args:
            only: as for `apply`.
            exclude: as for `apply`.
            strict: as for `apply`.
            dtype: as for `apply`.
            preflight: the keyword of that name.
            keywords: all other keywords.
            patches: as for `apply`.
            legacy: as for `apply`.
            verbose: whether to print a line for each interpreter.

        Raises:
            UsageError: one is of another kind, or there is no such folder of patches.
        """
        check_flag("strict", strict)
        check_flag("preflight", preflight)
        keywords = {**(keywords or {}), **({"preflight": True} if preflight else {})}
        checked_values = {
            "only": None if only is None else names_of(only, "only="),
            "exclude": () if exclude is None else names_of(exclude, "exclude="),
            "strict": strict,
            "dtype": None if dtype is None else dtype_name(dtype),
            "keywords": keywords,
            "patches": () if patches is None else tuple(resolve_paths(patches)),
            "legacy": checked_legacy(legacy),
            "verbose": verbose,
        }
        for name, value in checked_values.items():
            object.__setattr__(self, name, value)

    def requested_opt_ins(self, opt_ins: Collection[str]) -> tuple[str, ...]:
        """Return the keywords of the opt-in patches that were asked for.

        Args:
            opt_ins: the keywords that there are.

        Raises:
            UsageError: the value of one is neither True nor False.
        """
        names = [name for name in self.keywords if name in opt_ins]
        for name in names:
            check_flag(name, self.keywords[name])
        return tuple(name for name in names if self.keywords[name])

    def encode(self) -> str:
        """Return it as text, for interpreters that may have another version of patchkit.

        A version that knows no `opt_in` reads `preflight`. An empty `only` reads as none at all;
        no command line has one.
        """
        opt_in = [name for name, value in self.keywords.items() if value is True]
        settings = {name: value for name, value in self.keywords.items() if isinstance(value, str)}
        return json.dumps(
            {
                "only": self.only or (),
                "exclude": self.exclude,
                "strict": self.strict,
                "dtype": self.dtype,
                "preflight": "preflight" in opt_in,
                "settings": settings,
                "patches": list(map(str, self.patches)),
                "legacy": self.legacy,
                "verbose": self.verbose,
                "opt_in": opt_in,
            },
            separators=(",", ":"),
        )

    @classmethod
    def decode(cls, text: str) -> Choices:
        """Read what `encode` wrote, in this version or another; names it does not know are dropped.

        Raises:
            UsageError: as for `Choices`.
        """
        fields = json.loads(text)
        return cls(
            fields.get("only") or None,
            fields.get("exclude"),
            strict=fields.get("strict", False),
            dtype=fields.get("dtype"),
            preflight=fields.get("preflight", False),
            keywords={
                **fields.get("settings", {}),
                **dict.fromkeys(fields.get("opt_in", ()), True),
            },
            patches=fields.get("patches"),
            legacy=fields.get("legacy"),
            verbose=fields.get("verbose", False),
        )
