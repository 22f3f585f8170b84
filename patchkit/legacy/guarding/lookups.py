"""Which kind of code asks a module for a name."""

from __future__ import annotations

import sys
from enum import Enum
from opcode import opname


class Lookup(Enum):
    """How a name is asked for."""

    IMPORT = "import"
    """By `from … import …`, which makes an ImportError of an AttributeError, without its text."""
    READ = "read"
    """By `module.name`."""
    PROBE = "probe"
    """By a function such as `hasattr`."""
    AHEAD = "ahead"
    """By the import system, which asks once more if the name is there."""


_BY_OPERATION = {
    "IMPORT_FROM": Lookup.IMPORT,
    "LOAD_ATTR": Lookup.READ,
    "LOAD_METHOD": Lookup.READ,
}


def lookup_of(depth: int) -> Lookup:
    """Tell how a frame asks for a name at this moment.

    Args:
        depth: how far the frame is above the caller's.
    """
    frame = sys._getframe(depth + 1)
    if frame.f_globals.get("__name__") == "importlib._bootstrap":
        return Lookup.AHEAD
    operation = opname[frame.f_code.co_code[frame.f_lasti]]
    return _BY_OPERATION.get(operation, Lookup.PROBE)
