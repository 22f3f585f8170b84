"""All changes of public interfaces: files have what needs no function, modules the rest."""

from __future__ import annotations

from functools import cache

from ..changes import Change, Gone, Moved


@cache
def rows_of_names() -> tuple[Moved | Gone, ...]:
    """Return the changes of names and modules; nothing is imported that converts arguments."""
    from . import names

    return tuple(names.rows())


@cache
def rows_of_files() -> tuple[Change, ...]:
    """Return the changes that need no function; they are read once a process."""
    from . import attributes, keywords

    return (*rows_of_names(), *keywords.rows(), *attributes.rows())


@cache
def rows_of_spellings() -> tuple[Change, ...]:
    """Return the changes of names, keywords and attributes, of which an error can speak."""
    from . import chat_templates, columns, converted, former_methods, methods, models, trl_prompts

    modules = (converted, trl_prompts, chat_templates, methods, former_methods, models, columns)
    return (*rows_of_files(), *(row for module in modules for row in module.ROWS))


@cache
def all_rows() -> tuple[Change, ...]:
    """Return every change."""
    return (*rows_of_files(), *rows_of_modules())


@cache
def rows_of_modules() -> tuple[Change, ...]:
    """Return the changes that need a function of their own."""
    from . import (
        adjustments,
        behaviours,
        chat_templates,
        columns,
        converted,
        former_methods,
        methods,
        models,
        trl_prompts,
    )

    modules = (
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
    return tuple([row for module in modules for row in module.ROWS])
