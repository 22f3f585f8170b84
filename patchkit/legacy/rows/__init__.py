"""All changes of public interfaces: files have what needs no function, modules the rest."""

from __future__ import annotations

from functools import cache

from ..changes import Change
from . import (
    adjustments,
    attributes,
    behaviours,
    chat_templates,
    columns,
    converted,
    former_methods,
    keywords,
    methods,
    models,
    names,
    trl_prompts,
)

_FOLDERS = (names, keywords, attributes)
_MODULES = (
    converted,
    behaviours,
    trl_prompts,
    chat_templates,
    adjustments,
    methods,
    former_methods,
    models,
    columns,
)


@cache
def all_rows() -> tuple[Change, ...]:
    """Return every change; the files are read once, as a script or an error asks many times."""
    of_files = (row for folder in _FOLDERS for row in folder.rows())
    return (*of_files, *(row for module in _MODULES for row in module.ROWS))
