"""All changes of public interfaces: names are in files, the rest in modules."""

from __future__ import annotations

from ..changes import Change
from . import (
    accelerate_keywords,
    adjustments,
    attributes,
    chat_templates,
    columns,
    former_methods,
    methods,
    model_configurations,
    names,
    orders,
    peft_adapters,
    pipelines,
    transformers_behaviour,
    transformers_defaults,
    transformers_loading,
    transformers_models,
    transformers_tokenizers,
    transformers_training,
    trl_defaults,
    trl_dpo,
    trl_functions,
    trl_model_cards,
    trl_online,
    trl_preference,
    trl_prompts,
    trl_scripts,
    trl_sft,
)

_PARTS = (
    trl_sft,
    trl_dpo,
    trl_prompts,
    trl_preference,
    trl_online,
    trl_scripts,
    trl_functions,
    transformers_loading,
    transformers_models,
    transformers_tokenizers,
    transformers_behaviour,
    chat_templates,
    pipelines,
    trl_model_cards,
    transformers_defaults,
    trl_defaults,
    transformers_training,
    peft_adapters,
    accelerate_keywords,
    adjustments,
    methods,
    attributes,
    former_methods,
    model_configurations,
    columns,
    orders,
)


def all_rows() -> tuple[Change, ...]:
    """Return every change."""
    return (*names.rows(), *(row for part in _PARTS for row in part.ROWS))
