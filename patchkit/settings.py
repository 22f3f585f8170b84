"""What a user may choose beyond which patches run: by an argument of `apply`, or a variable."""

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


ARGUMENTS = ("only", "exclude", "strict", "dtype", "preflight", "patches")
"""What `apply` takes by name, whatever patches there are."""
RESERVED = (*ARGUMENTS, "others", "disable", "run", "cache", "wheels")
"""What no patch may call a setting: arguments, and what has a variable of that name."""
_YES = ("1", "true", "on", "yes")
_NO = ("", "0", "false", "off", "no")


@dataclass(frozen=True)
class Setting:
    """A choice that a patch offers.

    Args:
        name: the keyword of `apply`; the environment variable is `PATCHKIT_` and this in capitals.
        choices: the values it can take; the first is the default.
        help: what it decides, in one line.
    """

    name: str
    choices: tuple[str, ...]
    help: str

    @property
    def variable(self) -> str:
        return variable_name(self.name)

    def problem(self) -> str:
        """What is wrong with the definition; empty where nothing is."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            return "needs a name that can be a keyword of apply()"
        if self.name in RESERVED:
            return "has a name that means something else to patchkit"
        choices = self.choices
        if not isinstance(choices, tuple) or not choices:
            return "needs a tuple of choices"
        return (
            "" if all(isinstance(one, str) for one in choices) else "needs strings to choose from"
        )

    def check(self, value: object, source: str) -> str:
        """The value, if it is one of the choices.

        Raises:
            UsageError: it is not.
        """
        if not isinstance(value, str) or value not in self.choices:
            expected = ", ".join(map(repr, self.choices))
            raise UsageError(f"{source} must be one of {expected}, not {value!r}")
        return value


_chosen: dict[str, str] = {}


def value(setting: Setting) -> str:
    """What holds now: the argument of `apply`, else the environment variable, else the default."""
    if setting.name in _chosen:
        return _chosen[setting.name]
    given = os.environ.get(setting.variable)
    return given if given in setting.choices else setting.choices[0]


def variable_name(name: str) -> str:
    """Return the environment variable that does what a keyword of `apply` does."""
    return f"PATCHKIT_{name.upper()}"


def is_switched_on(name: str) -> bool:
    """Tell whether the environment asks for an opt-in patch.

    Args:
        name: the keyword.

    Raises:
        UsageError: its variable is neither yes nor no.
    """
    variable = variable_name(name)
    given = os.environ.get(variable, "").lower()
    if given not in (*_YES, *_NO):
        raise UsageError(f"the environment variable {variable} must be 1 or 0, not {given!r}")
    return given in _YES


def requested_dtype() -> str | None:
    """The name of the dtype given to `apply(dtype=…)`, such as `float16`; None if none was."""
    return _chosen.get("dtype")


def resolve(
    given: Mapping[str, object],
    dtype: object,
    known: Iterable[Setting],
    opt_ins: Collection[str] = (),
) -> dict[str, str]:
    """Check what a call of `apply` chose, and the environment with it.

    Args:
        given: keyword arguments by name.
        dtype: a `torch.dtype`, a name such as `float16` or `fp16`, or None.
        known: the settings that the catalogue offers.
        opt_ins: the keywords that ask for opt-in patches of the catalogue.

    Returns:
        the choices made by arguments.

    Raises:
        UsageError: an unknown name or value.
    """
    settings = {setting.name: setting for setting in known}
    for name in given:
        if name not in settings and name not in opt_ins:
            raise UsageError(_no_such_argument(name, settings, opt_ins))
    for setting in settings.values():
        variable = os.environ.get(setting.variable)
        if variable is not None:
            setting.check(variable, f"the environment variable {setting.variable}")
    chosen = {
        name: settings[name].check(value, f"{name}=")
        for name, value in given.items()
        if name in settings
    }
    if dtype is not None:
        chosen["dtype"] = dtype_name(dtype)
    return chosen


def _no_such_argument(name: str, settings: Collection[str], opt_ins: Collection[str]) -> str:
    import difflib  # only a mistake needs it

    near = difflib.get_close_matches(name, [*ARGUMENTS, *settings, *opt_ins], n=1)
    meant = f". Did you mean {near[0]!r}?" if near else "."
    offered = f" The patches here offer: {', '.join(sorted(settings)) or 'none'}"
    asked = f"; on request: {', '.join(sorted(opt_ins))}" if opt_ins else ""
    return f"apply() has no argument {name!r}{meant}{offered}{asked}"


def current_choices() -> dict[str, str]:
    """Return what was chosen by arguments."""
    return dict(_chosen)


def restore(chosen: Mapping[str, str]) -> None:
    """Let these choices hold, and no others."""
    global _chosen
    _chosen = dict(chosen)


def dtype_name(dtype: object) -> str:
    """Return the name of a precision: `float16`, `bfloat16` or `float32`.

    Args:
        dtype: a `torch.dtype`, or a name such as `float16` or `fp16`.

    Raises:
        UsageError: it is another.
    """
    # `str(torch.float16)` is "torch.float16": no need to import torch in order to read one.
    name = DTYPES.get(str(dtype).removeprefix("torch."))
    if name is None:
        raise UsageError(
            f"dtype= must be torch.float16, torch.bfloat16 or torch.float32 (or their names), "
            f"not {dtype!r}"
        )
    return name
