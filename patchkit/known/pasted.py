"""What a pasted text has: errors, the lines of their tracebacks, and the versions it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..about import shipped_table
from ..whose import REMOTE_CODE, installed_place

# The site knows frames and launchers by the same tables, in JavaScript.
REPOSITORIES: dict[str, str] = shipped_table("known/libraries.json")
"""Where each library is that tracebacks of this field go through; empty where it is not known."""
LIBRARIES = frozenset(REPOSITORIES)
"""Their top folders."""

_ANY_FIELD = """
torch torchvision numpy pandas pyarrow pydantic fsspec triton ray wandb lightning pytorch_lightning
"""
ANY_FIELD = frozenset(_ANY_FIELD.split())
"""Those of them through which any code of others goes, too."""

FOLDERS = frozenset({"adapters", "datasets", "evaluate", "kernels"})
"""Those whose names folders of any project have."""

_PASSING_ON = """
wrapped_func wrapper _wrapper wrapped _inner_fn _inner inner inner_f new_init decorate_context
__getattr__ _get_module _handle_fromlist
"""
PASSING_ON = frozenset(_PASSING_ON.split())
"""Functions that only pass a call or an import on."""

LAUNCHER = re.compile(
    r"ChildFailedError|DatasetGenerationError|CalledProcessError|ProcessExitedException|SignalException|SystemExit|"
    r"KeyboardInterrupt|BrokenPipeError|ConnectionResetError|EOFError|DistBackendError|"
    r"DistStoreError|DistNetworkError|WorkerCrashedError|ActorDiedError|RaySystemError|ncclRemoteError"
)
FOLLOWER = re.compile(
    r"store->get\(|setting up NCCL communicator|gloo/transport|NCCL communicator was aborted|"
    r"remote process exited"
)
"""What a rank raises because another one has died."""


@dataclass(frozen=True)
class Frame:
    """A line of a traceback.

    Args:
        file: as it was pasted, with forward slashes.
        function: the function; empty if the text does not name it.
    """

    file: str
    function: str = ""

    @cached_property
    def place(self) -> str:
        """The file below its library: `peft/tuners/lora/layer.py`; the file itself elsewhere."""
        return _place(self.file)

    @property
    def passes_on(self) -> bool:
        """Whether it only passes a call or an import on; notebooks name what it is defined in."""
        name = self.function.rpartition(".")[2]
        return self.file.startswith("<frozen") or name in PASSING_ON

    @property
    def library(self) -> str:
        """The library, as it is imported; empty for the user's own code."""
        top, slash, _ = self.place.partition("/")
        return top if slash and (top in LIBRARIES or top == REMOTE_CODE) else ""

    @property
    def package(self) -> str:
        """The library, or whatever else is installed; empty for the user's own code."""
        top, slash, _ = installed_place(self.file).partition("/")
        return self.library or (top if slash else "")


@dataclass(frozen=True)
class Raised:
    """An error or warning of the text.

    Args:
        type: its class, as it was printed; empty if the text is a bare message.
        message: on one line, up to the first empty one.
        frames: the lines of its traceback, the innermost last.
        after: what follows the message, as long as that may be more of it; and the assertion that
            failed, if it has a message of its own.
    """

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    after: str = ""

    @property
    def name(self) -> str:
        """The class without its module."""
        return self.type.rpartition(".")[2]

    @property
    def raising(self) -> tuple[Frame, ...]:
        """The line that raised it, if the text has one."""
        return tuple(frame for frame in self.frames if not frame.passes_on)[-1:]

    @cached_property
    def is_elsewhere(self) -> bool:
        """Whether code of others raised it: a model or package that none of the libraries calls.

        Notebooks leave lines out; and the last one, at a script's top, may have had others below.
        """
        if any(frame.library not in (*ANY_FIELD, "") for frame in self.frames):
            return False
        asking = [frame for frame in self.frames if frame.library == "" and not frame.passes_on]
        if not asking or not asking[-1].function:
            return False
        return asking[-1].function != "<module>" or asking[-1] is not self.frames[-1]

    def caller(self, library: str = "") -> str:
        """Return the package whose line asks another; empty if that is the user's, or not shown.

        Args:
            library: the one that is asked; empty for the one in which the error was raised.
        """
        asking = [frame.package for frame in self.frames if not frame.passes_on]
        while library and asking and asking[-1] == library:
            asking.pop()
        return asking[-1] if asking else ""

    @property
    def is_launchers(self) -> bool:
        """Whether it only tells that another process died."""
        return bool(LAUNCHER.search(self.type) or FOLLOWER.search(self.message))

    @property
    def is_warning(self) -> bool:
        return self.type.endswith("Warning")


@dataclass(frozen=True)
class Pasted:
    """What was pasted.

    Args:
        text: without colours and prefixes, on one line.
        errors: all errors of it, the likeliest first.
        versions: of libraries that it names.
    """

    text: str
    errors: tuple[Raised, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> Raised:
        return self.errors[0]


def _place(file: str) -> str:
    if place := installed_place(file):
        return place
    parts = file.split("/")
    places = [number for number, part in enumerate(parts[:-1]) if part in LIBRARIES]
    places = [at for at in places if parts[at] not in FOLDERS or _is_checkout(parts, at)]
    if not places:
        return parts[-1]
    # A checkout of a library has its folder in a folder of the same name.
    same = [number for number in places if parts[number] == parts[places[0]]]
    return "/".join(parts[same[-1] :])


def _is_checkout(parts: list[str], at: int) -> bool:
    """Tell whether a folder is a library's, and not one of that name in a project."""
    return at <= 2 or parts[at - 1] in ("src", parts[at])
