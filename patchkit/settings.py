"""What a call of `apply` or an environment variable chooses: patches, and options of patches."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from .errors import UsageError

DTYPES = {
    "float16": "float16",
    "fp16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "bf16": "bfloat16",
    "float32": "float32",
    "fp32": "float32",
    "float": "float32",
}


ARGUMENTS = ("only", "exclude", "strict", "dtype", "preflight", "patches", "legacy", "explain")
"""Arguments that `apply` always has."""
RESERVED = (*ARGUMENTS, "others", "disable", "run", "cache", "wheels")
"""Names that no setting may have: arguments, and names of our own variables."""
_YES = ("1", "true", "on", "yes")
_NO = ("", "0", "false", "off", "no")

Selection = str | Iterable[str] | None
"""Ids and globs of patches, as `only` and `exclude` take them."""


@dataclass(frozen=True)
class Setting:
    """A choice that a patch offers.

    Args:
        name: the keyword of `apply`; the environment variable is `PATCHKIT_` and this in capitals.
        choices: the values it can take; the first is the default.
        help: its effect, in one line.
    """

    name: str
    choices: tuple[str, ...]
    help: str

    @property
    def variable(self) -> str:
        return variable_name(self.name)

    def problem(self) -> str:
        """Return what is wrong with the definition; empty if nothing is."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            return "needs a name that can be a keyword of apply()"
        if self.name in RESERVED:
            return "has a name that patchkit uses itself"
        choices = self.choices
        if not isinstance(choices, tuple) or not choices:
            return "needs a tuple of choices"
        if not all(isinstance(choice, str) for choice in choices):
            return "needs strings to choose from"
        return ""

    def check(self, value: object, source: str) -> str:
        """Return the value, if it is one of the choices.

        Raises:
            UsageError: it is not.
        """
        if not isinstance(value, str) or value not in self.choices:
            expected = ", ".join(map(repr, self.choices))
            raise UsageError(f"{source} must be one of {expected}, not {value!r}")
        return value


def check_variable(setting: Setting) -> None:
    """Raise `UsageError` if the environment gives a setting a value that it cannot take."""
    text = os.environ.get(setting.variable)
    if text is not None:
        setting.check(text, f"the environment variable {setting.variable}")


_chosen: dict[str, str] = {}


def value(setting: Setting) -> str:
    """Return the value in force: the argument, else the variable, else the default."""
    if setting.name in _chosen:
        return _chosen[setting.name]
    text = os.environ.get(setting.variable)
    return text if text in setting.choices else setting.choices[0]


def variable_name(name: str) -> str:
    """Return the environment variable that stands for a keyword of `apply`."""
    return f"PATCHKIT_{name.upper()}"


def is_switched_on(name: str) -> bool:
    """Tell whether the environment turns on the opt-in patch with this keyword.

    Raises:
        UsageError: its variable is neither yes nor no.
    """
    variable = variable_name(name)
    text = os.environ.get(variable, "")
    switched_on = yes_or_no(text)
    if switched_on is None:
        raise UsageError(
            f"the environment variable {variable} must be 1 or 0, not {text.lower()!r}"
        )
    return switched_on


def yes_or_no(text: str) -> bool | None:
    """Read an answer; None if it is neither."""
    return True if text.lower() in _YES else False if text.lower() in _NO else None


def requested_dtype() -> str | None:
    """Return the name of the dtype in `apply(dtype=…)`, such as `float16`; None without one."""
    return _chosen.get("dtype")


def resolve(
    keywords: Mapping[str, object],
    dtype: object,
    known: Iterable[Setting],
    opt_ins: Collection[str] = (),
) -> dict[str, str]:
    """Check the settings of a call of `apply`, and those of the environment.

    Returns:
        the values set by arguments.

    Raises:
        UsageError: an unknown name or value.
    """
    settings = {setting.name: setting for setting in known}
    for name in keywords:
        if name not in settings and name not in opt_ins:
            raise UsageError(_no_such_argument(name, settings, opt_ins))
    for setting in settings.values():
        check_variable(setting)
    chosen = {
        name: settings[name].check(value, f"{name}=")
        for name, value in keywords.items()
        if name in settings
    }
    if dtype is not None:
        chosen["dtype"] = dtype_name(dtype)
    return chosen


def _no_such_argument(name: str, settings: Collection[str], opt_ins: Collection[str]) -> str:
    import difflib  # only a mistake needs it

    near = difflib.get_close_matches(name, [*ARGUMENTS, *settings, *opt_ins], n=1)
    hint = f". Did you mean {near[0]!r}?" if near else "."
    offered = f" The patches here offer: {', '.join(sorted(settings)) or 'none'}"
    on_request = f"; on request: {', '.join(sorted(opt_ins))}" if opt_ins else ""
    return f"apply() has no argument {name!r}{hint}{offered}{on_request}"


def current_choices() -> dict[str, str]:
    """Return the values set by arguments."""
    return dict(_chosen)


def restore(chosen: Mapping[str, str]) -> None:
    """Set these values, and no others."""
    global _chosen
    _chosen = dict(chosen)


def names_of(selection: str | Iterable[str], argument: str) -> tuple[str, ...]:
    """Return the ids and globs of a selection; `argument` names it in messages.

    Raises:
        UsageError: it is not made of strings.
    """
    if isinstance(selection, str):
        return (selection,)
    try:
        names = tuple(selection)
    except TypeError:
        raise UsageError(
            f"{argument} takes a patch id, a glob such as 'trl-*', or several of them, "
            f"not {selection!r}"
        ) from None
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"{argument} takes patch ids and globs, not {name!r}")
    return names


def check_flag(name: str, value: object) -> bool:
    """Return the value of an argument that is a flag.

    Raises:
        UsageError: it is neither True nor False.
    """
    if not isinstance(value, bool):
        raise UsageError(f"{name}= must be True or False, not {value!r}")
    return value


def dtype_name(dtype: object) -> str:
    """Return `float16`, `bfloat16` or `float32` for a `torch.dtype` or a name such as `fp16`.

    Raises:
        UsageError: it is another one.
    """
    # `str(torch.float16)` is "torch.float16": no need to import torch in order to read one.
    name = DTYPES.get(str(dtype).removeprefix("torch."))
    if name is None:
        raise UsageError(
            f"dtype= must be torch.float16, torch.bfloat16 or torch.float32 (or their names), "
            f"not {dtype!r}"
        )
    return name
