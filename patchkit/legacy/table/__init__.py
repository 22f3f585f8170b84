"""All changes of public interfaces, a module for each part of a library."""

from __future__ import annotations

from ..changes import Change
from . import (
    transformers_behaviour,
    transformers_defaults,
    trl_defaults,
    trl_gone,
    trl_names,
    trl_trainers,
)


def rows() -> tuple[Change, ...]:
    """Return every change."""
    return (
        *trl_defaults.ROWS,
        *transformers_defaults.ROWS,
        *transformers_behaviour.ROWS,
        *trl_gone.ROWS,
        *trl_names.ROWS,
        *trl_trainers.ROWS,
    )
