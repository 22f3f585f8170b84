"""Lengths of prompts and completions that trainers of TRL truncated to."""

from __future__ import annotations

from ..changes import Around, Behaviour, Change, Keep, Keyword
from ..converting.prompts import (
    HOW,
    MODE,
    OF_COMPLETION,
    OF_PROMPT,
    OF_TRAINER,
    check_trainer,
    give_max_length,
    show_configuration,
    truncate_completions,
    truncate_pairs,
    truncate_prompts,
    truncate_row,
)

_TRUNCATING = "patchkit.legacy.replacements.truncation.truncating"
_ADVICE = "patchkit truncates the prompts as trainers did; truncate them in the dataset"
_GONE = {
    "DPO": "trl 0.29.0",
    "KTO": "trl 0.27.0",
    "ORPO": "trl 0.28.0",
    "CPO": "trl 0.28.0",
    "GRPO": "trl 0.28.0",
    "RLOO": "trl 0.29.0",
}
"""The first release without `max_prompt_length`, by configuration."""


def _kept(owner: str, name: str, to: str, gone: str, advice: str = _ADVICE) -> Keyword:
    return Keyword(
        owners=(f"trl.{owner}",),
        name=name,
        action=Keep(to, advice, by=_TRUNCATING, alone=name != MODE),
        gone=gone,
    )


def _behaviour(owner: str, name: str, around: Around, gone: str) -> Behaviour:
    return Behaviour(
        owners=(f"trl.{owner}",),
        name=name,
        around=around,
        gone=gone,
    )


ROWS: tuple[Change, ...] = (
    *(_kept(f"{algorithm}Config", OF_PROMPT, OF_PROMPT, gone) for algorithm, gone in _GONE.items()),
    _kept("DPOTrainer", OF_PROMPT, OF_TRAINER, "trl 0.13.0"),
    _kept(
        "DPOConfig",
        OF_COMPLETION,
        OF_COMPLETION,
        "trl 0.29.0",
        "patchkit truncates the completions as DPOTrainer did; truncate them in the dataset",
    ),
    *(
        _kept(
            f"{algorithm}Config",
            MODE,
            MODE,
            gone,
            "patchkit keeps that end of prompts; truncate them in the dataset",
        )
        for algorithm, gone in (
            ("KTO", "trl 0.27.0"),
            ("ORPO", "trl 1.0.0"),
            ("CPO", "trl 1.0.0"),
        )
    ),
    _behaviour("SFTTrainer", "length of texts", give_max_length, "trl 0.16.0"),
    _behaviour("DPOTrainer._prepare_dataset", HOW, truncate_pairs, _GONE["DPO"]),
    _behaviour("KTOTrainer._prepare_dataset", HOW, truncate_completions, _GONE["KTO"]),
    _behaviour("ORPOTrainer", HOW, show_configuration, _GONE["ORPO"]),
    _behaviour("CPOTrainer", HOW, show_configuration, _GONE["CPO"]),
    _behaviour("ORPOTrainer.tokenize_row", HOW, truncate_row, _GONE["ORPO"]),
    _behaviour("CPOTrainer.tokenize_row", HOW, truncate_row, _GONE["CPO"]),
    _behaviour("GRPOTrainer._tokenize_prompts", HOW, truncate_prompts, _GONE["GRPO"]),
    _behaviour("RLOOTrainer._tokenize_prompts", HOW, truncate_prompts, _GONE["RLOO"]),
    _behaviour("GRPOTrainer", HOW, check_trainer, _GONE["GRPO"]),
    _behaviour("RLOOTrainer", HOW, check_trainer, _GONE["RLOO"]),
)
