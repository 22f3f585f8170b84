"""What was chosen on the command line of `patchkit run`, as it travels to each interpreter."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choices:
    """The arguments of `apply`, and what concerns the run itself.

    Args:
        only: ids and globs; empty for all that are due.
        exclude: ids and globs.
        strict: stop an interpreter in which a patch that is due cannot be applied.
        dtype: a name such as `fp16`, or None.
        preflight: look before each training.
        settings: what single patches offer, by name.
        patches: absolute paths of folders and files of more patches.
        verbose: say a line for each interpreter.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    strict: bool = False
    dtype: str | None = None
    preflight: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    patches: tuple[str, ...] = ()
    verbose: bool = False

    def arguments(self) -> dict[str, Any]:
        """What `patchkit.apply` and `patchkit.patched` take of it."""
        return {
            "only": self.only or None,
            "exclude": self.exclude or None,
            "strict": self.strict,
            "dtype": self.dtype,
            "preflight": self.preflight,
            "patches": self.patches or None,
            **self.settings,
        }

    def for_session(self) -> dict[str, Any]:
        """What `Session.apply` takes of it."""
        arguments = {**self.arguments(), "chosen": self.settings}
        return {name: value for name, value in arguments.items() if name not in self.settings}

    def encode(self) -> str:
        return json.dumps(dataclasses.asdict(self), separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> Choices:
        """Read what `encode` wrote; what another version of patchkit adds to it is passed over."""
        known = {one.name for one in dataclasses.fields(cls)}
        given: dict[str, Any] = {}
        for name, value in json.loads(text).items():
            if name in known:
                given[name] = tuple(value) if isinstance(value, list) else value
        return cls(**given)
