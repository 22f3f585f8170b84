"""All changes of public interfaces, a module for each part of a library."""

from __future__ import annotations

from ..changes import Change
from . import (
    accelerate_keywords,
    orders,
    transformers_training,
    trl_dpo,
    trl_gone,
    trl_names,
    trl_online,
    trl_preference,
    trl_scripts,
    trl_sft,
)


def rows() -> tuple[Change, ...]:
    """Return every change."""
    return (
        *trl_gone.ROWS,
        *trl_names.ROWS,
        *trl_sft.ROWS,
        *trl_dpo.ROWS,
        *trl_preference.ROWS,
        *trl_online.ROWS,
        *trl_scripts.ROWS,
        *transformers_training.ROWS,
        *accelerate_keywords.ROWS,
        *orders.ROWS,
    )
