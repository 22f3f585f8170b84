"""All changes of public interfaces, as files of this folder have them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..changes import Change, Gone, Moved


@cache
def guarded_modules() -> frozenset[str]:
    """Return the modules of other libraries than TRL that have what rows are about."""
    file = Path(__file__).with_name("modules.txt")
    return frozenset(file.read_text(encoding="utf-8").split())


@cache
def rows_of_names() -> tuple[Moved | Gone, ...]:
    """Return the changes of names and modules."""
    from . import names

    return tuple(names.rows())


@cache
def rows_of_spellings() -> tuple[Change, ...]:
    """Return the changes of names, keywords and attributes, of which an error can speak."""
    from . import attributes, keywords

    return (*rows_of_names(), *keywords.rows(), *attributes.rows())


@cache
def all_rows() -> tuple[Change, ...]:
    """Return every change; they are read once a process."""
    from . import calls

    return (*rows_of_spellings(), *calls.rows())
