"""Convert a configuration to the class that a trainer takes."""

from __future__ import annotations

from typing import Any

from ..converting.configuration import remade


def configured(args: Any, cls: type, **settings: Any) -> Any:
    """Return a configuration with what another one holds, and more.

    Args:
        args: a configuration, `TrainingArguments` or one that derives from them; None for the
            defaults of `TrainingArguments`.
        cls: the class of the new one, unless `args` is of it.
        settings: fields that get other values.
    """
    from transformers import TrainingArguments

    if args is None:
        args = TrainingArguments(output_dir="tmp_trainer")
    return remade(args, type(args) if isinstance(args, cls) else cls, settings)
