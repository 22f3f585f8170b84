"""All changes of public interfaces, a module for each part of a library."""

from __future__ import annotations

from ..changes import Change
from . import (
    accelerate_keywords,
    adjustments,
    attributes,
    chat_templates,
    columns,
    former_methods,
    hub_names,
    methods,
    model_configurations,
    orders,
    peft_adapters,
    peft_names,
    pipelines,
    transformers_behaviour,
    transformers_defaults,
    transformers_gone,
    transformers_loading,
    transformers_models,
    transformers_names,
    transformers_pieces,
    transformers_tokenizers,
    transformers_training,
    trl_defaults,
    trl_dpo,
    trl_functions,
    trl_gone,
    trl_model_cards,
    trl_modules,
    trl_names,
    trl_online,
    trl_places,
    trl_preference,
    trl_prompts,
    trl_scripts,
    trl_sft,
)
from .left_out import LEFT_OUT

_PARTS = (
    trl_gone,
    trl_names,
    trl_modules,
    trl_places,
    trl_sft,
    trl_dpo,
    trl_prompts,
    trl_preference,
    trl_online,
    trl_scripts,
    trl_functions,
    transformers_loading,
    transformers_models,
    transformers_pieces,
    transformers_tokenizers,
    transformers_names,
    transformers_gone,
    transformers_behaviour,
    chat_templates,
    pipelines,
    trl_model_cards,
    transformers_defaults,
    trl_defaults,
    transformers_training,
    peft_names,
    peft_adapters,
    hub_names,
    accelerate_keywords,
    adjustments,
    methods,
    attributes,
    former_methods,
    model_configurations,
    columns,
    orders,
)

__all__ = ["LEFT_OUT", "all_rows"]


def all_rows() -> tuple[Change, ...]:
    """Return every change."""
    return tuple(row for part in _PARTS for row in part.ROWS)
