"""What a script gets from modules beside it: all that says what it is, and nothing to be edited."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .script import Given, OwnClass
from .values import Dictionary, Library, Loaded, Made, Own, Several, Values

LARGEST = 200_000
"""Bytes of a module that is read."""
_INSTALLED = "site-packages"
"""The folder whose modules are installed, and not a script's own."""
_NOTHING = ast.Constant(None)


def file_of(module: str, level: int, folder: Path) -> Path | None:
    """Return the file of a module that an import statement of a script names.

    Args:
        module: its name, with dots.
        level: how many dots are before the name.
        folder: where the script lies.
    """
    roots = [folder, folder.parent] if level == 0 else [folder, *folder.parents][level - 1 : level]
    for root in roots:
        if level == 0 and root.name == _INSTALLED:
            continue
        place = root.joinpath(*module.split("."))
        for path in (place.parent / f"{place.name}.py", place / "__init__.py"):
            if path.is_file() and path.stat().st_size <= LARGEST:
                return path
    return None


def handed(
    values: Values, file: str, entries: Callable[[Any], Iterator[tuple[str, Given]]]
) -> Values:
    """Return what values of another module mean to a script.

    Args:
        values: the values.
        file: the name of the module's file.
        entries: yields what a dictionary has.
    """
    found: list[object] = []
    for value in values:
        if isinstance(value, Made):
            found.append(Made(value.class_name, None, value.own and _bare(value.own)))
        elif isinstance(value, Several):
            parts = (handed(each, file, entries) for each in value.elements)
            found.append(Several(tuple(parts)))
        elif isinstance(value, Dictionary):
            settings = {name: given.value for name, given in entries(value.node)}
            found.append(Loaded(file, settings))
        elif isinstance(value, Own):
            found.append(Own(value.node, value.cls and _bare(value.cls)))
        elif isinstance(value, Library):
            found.append(value)
    return tuple(found)


def _bare(cls: OwnClass) -> OwnClass:
    """Return a class with fields of which only the names are known."""
    fields: Mapping[str, ast.AnnAssign] = {
        name: ast.AnnAssign(ast.Name(name), _NOTHING, simple=1) for name in cls.fields
    }
    return OwnClass(
        cls.name, cls.line, cls.ancestors, fields, cls.node, cls.constructors, cls.methods
    )
