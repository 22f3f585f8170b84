"""All changes of public interfaces, a module for each part of a library."""

from __future__ import annotations

from ..changes import Change
from . import (
    peft_names,
    transformers_loading,
    transformers_names,
    trl_gone,
    trl_modules,
    trl_names,
    trl_trainers,
)


def rows() -> tuple[Change, ...]:
    """Return every change."""
    return (
        *trl_gone.ROWS,
        *trl_names.ROWS,
        *trl_modules.ROWS,
        *transformers_names.ROWS,
        *transformers_loading.ROWS,
        *peft_names.ROWS,
        *trl_trainers.ROWS,
    )
