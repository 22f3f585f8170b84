"""How code asks for a name or attribute: because it needs it, or to see whether it is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from opcode import opname
from types import CodeType, FrameType

from ...whose import Whose, owner_of_frame
from ..call_sites import asks_for_attribute, catches, find_statement, last_part, source_of

_BOOTSTRAP = "importlib._bootstrap"
_MODULE = "<module>"
_BETWEEN = (Whose.INTERPRETER, Whose.OURS)
"""Whose code stands between an import and the finder that it asks."""


class NameLookup(Enum):
    """How a name is asked for."""

    IMPORT = "import"
    """By `from … import …`, which makes an ImportError of an AttributeError, without its text."""
    READ = "read"
    """By `object.name`, or a function that needs it."""
    PROBE = "probe"
    """By code that has an answer where the name is not there: `hasattr`, `getattr` with a default,
    or a read or import whose error is caught."""
    AHEAD = "ahead"
    """By the import system, which asks a second time if the name is there."""


def lookup_of(frame: FrameType) -> NameLookup:
    """Tell how a frame asks for a name or an attribute at this moment."""
    if frame.f_globals.get("__name__") == _BOOTSTRAP:
        return NameLookup.AHEAD
    code = frame.f_code
    known = _known(code.co_filename, code)
    if frame.f_lasti not in known:
        known[frame.f_lasti] = _lookup_of(frame, opname[code.co_code[frame.f_lasti]])
    return known[frame.f_lasti]


@lru_cache(maxsize=256)
def _known(file: str, code: CodeType) -> dict[int, NameLookup]:
    """Return how the instructions of a function ask, which may run for each row."""
    return {}


def _lookup_of(frame: FrameType, operation: str) -> NameLookup:
    if operation == "IMPORT_FROM":
        return NameLookup.PROBE if catches(frame, ImportError) else NameLookup.IMPORT
    if "CALL" in operation:  # Python 3.11 has PRECALL as well
        is_probe = asks_for_attribute(frame) or catches(frame, AttributeError)
    else:
        is_probe = operation == "MATCH_CLASS" or catches(frame, AttributeError)
    return NameLookup.PROBE if is_probe else NameLookup.READ


def importing_frame(frame: FrameType | None) -> FrameType | None:
    """Return the frame whose statement or call imports a module.

    Args:
        frame: the frame of the import system that asks a finder.

    Returns:
        None if something only asks where the module is, as `importlib.util.find_spec` does.
    """
    between, importing = _asked_by(frame)
    return importing if "_find_and_load" in between else None


def is_part_of_a_package(frame: FrameType | None) -> bool:
    """Tell whether an import is the second question of `from package import name`."""
    between, _ = _asked_by(frame)
    return "_handle_fromlist" in between


def _asked_by(frame: FrameType | None) -> tuple[set[str], FrameType | None]:
    """Return the functions between an import and this frame, and the frame that imports."""
    between: set[str] = set()
    while frame is not None and owner_of_frame(frame).whose in _BETWEEN:
        between.add(frame.f_code.co_name)
        frame = frame.f_back
    return between, frame


def imports_names(frame: FrameType) -> bool:
    """Tell whether a frame carries out a `from … import …`, as far as the source is there."""
    return find_statement(frame, ast.ImportFrom) is not None


def is_matched(frame: FrameType, name: str) -> bool:
    """Tell whether a `case` of the file that imports a name asks for objects of it.

    Python accepts nothing but a class there, and asks that for nothing if the object is of another.
    """
    source = source_of(frame)
    if source is None:
        return False
    last = name.rpartition(".")[2]
    asked, imported_as = set(), set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.MatchClass):
            asked.add(last_part(node.cls))
        elif isinstance(node, ast.alias) and node.name == last:
            imported_as.add(node.asname or last)
    return not asked.isdisjoint(imported_as)


def is_caught(frame: FrameType) -> bool:
    """Tell whether code that imports this frame's module has an answer if that cannot be.

    That is what a framework does with parts of its own that need another release.
    """
    return any(catches(outer, ImportError) for outer in _importing(frame))


def _importing(frame: FrameType) -> Iterator[FrameType]:
    """Yield the frames that import the module of a frame, and so on."""
    while frame.f_code.co_name == _MODULE:
        _, outer = _asked_by(frame.f_back)
        if outer is None:
            return
        yield outer
        frame = outer
