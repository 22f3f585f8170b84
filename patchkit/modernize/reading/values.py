"""What an expression of a script may stand for."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from .script import OwnClass, ScriptCall


@dataclass(frozen=True)
class Library:
    """A module, class or function of a library, by its name with dots."""

    name: str


@dataclass(frozen=True, eq=False)
class Made:
    """An object.

    Args:
        kind: its class, with dots.
        call: the call that made it; None if it came in another way.
        own: the script's own class, if it is of one.
    """

    kind: str
    call: ScriptCall | None = None
    own: OwnClass | None = None


@dataclass(frozen=True, eq=False)
class MadeMethod:
    """A method of an object."""

    instance: Made
    name: str


@dataclass(frozen=True, eq=False)
class Several:
    """A list or tuple, with what each element may be."""

    elements: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A dictionary that the script writes down, and whether it is changed afterwards."""

    node: ast.Dict | ast.Call


@dataclass(frozen=True, eq=False)
class Constant:
    """A literal.

    Args:
        surely: whether it is the value, and not only a default.
    """

    node: ast.expr
    surely: bool = True


@dataclass(frozen=True, eq=False)
class Own:
    """A function or class of the script's own."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    kind: OwnClass | None = None


Values = tuple[Any, ...]
"""What an expression may be; empty if nothing is known."""
