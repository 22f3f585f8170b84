"""What a user may choose beyond which patches run: by an argument of `apply`, or a variable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
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


RESERVED = (
    *("only", "exclude", "strict", "dtype", "preflight", "patches", "others"),
    "disable",  # its variable is taken
)
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
        return f"PATCHKIT_{self.name.upper()}"

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


def switched_on(name: str) -> bool:
    """Whether the environment variable `PATCHKIT_<NAME>` asks for something.

    Raises:
        UsageError: it is neither yes nor no.
    """
    variable = f"PATCHKIT_{name.upper()}"
    given = os.environ.get(variable, "").lower()
    if given not in (*_YES, *_NO):
        raise UsageError(f"the environment variable {variable} must be 1 or 0, not {given!r}")
    return given in _YES


def requested_dtype() -> str | None:
    """The name of the dtype given to `apply(dtype=…)`, such as `float16`; None if none was."""
    return _chosen.get("dtype")


def resolve(given: Mapping[str, object], dtype: object, known: Iterable[Setting]) -> dict[str, str]:
    """Check what a call of `apply` chose, and the environment with it.

    Args:
        given: keyword arguments by name.
        dtype: a `torch.dtype`, a name such as `float16` or `fp16`, or None.
        known: the settings that the catalogue offers.

    Returns:
        the choices made by arguments.

    Raises:
        UsageError: an unknown name or value.
    """
    settings = {setting.name: setting for setting in known}
    unknown = [name for name in given if name not in settings]
    if unknown:
        offered = ", ".join(sorted(settings)) or "none"
        raise UsageError(
            f"apply() has no argument {unknown[0]!r}; the patches here offer: {offered}"
        )
    for setting in settings.values():
        variable = os.environ.get(setting.variable)
        if variable is not None:
            setting.check(variable, f"the environment variable {setting.variable}")
    chosen = {name: settings[name].check(value, f"{name}=") for name, value in given.items()}
    if dtype is not None:
        chosen["dtype"] = _dtype_name(dtype)
    return chosen


def in_force() -> dict[str, str]:
    """Return what was chosen by arguments."""
    return dict(_chosen)


def restore(chosen: Mapping[str, str]) -> None:
    """Let these choices hold, and no others."""
    global _chosen
    _chosen = dict(chosen)


def _dtype_name(dtype: object) -> str:
    # `str(torch.float16)` is "torch.float16": no need to import torch in order to read one.
    name = DTYPES.get(str(dtype).removeprefix("torch."))
    if name is None:
        raise UsageError(
            f"dtype= must be torch.float16, torch.bfloat16 or torch.float32 (or their names), "
            f"not {dtype!r}"
        )
    return name
