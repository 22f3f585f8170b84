"""Keywords of TRL's trainers for preferences, other than DPO."""

from __future__ import annotations

from ..changes import Change, Convert, Drop, Rename
from ..converting.conversions import liger_kernel
from .many import keywords, only_false, only_none

_KTO = ("trl.KTOTrainer",)
_KTO_CONFIG = ("trl.KTOConfig",)
_PAIRS = ("trl.ORPOConfig", "trl.CPOConfig")
_NEW_CLASS = Rename("processing_class")
_NOT_COUNTED = Drop(
    "labels that do not count are -100",
    unless=lambda value: value not in (None, -100),
    instead="Give -100 to what does not count.",
)
_MASKED = Drop("padding is masked, so that no result depends on it")
_ADAPTER = "KTOTrainer trains the adapter named default, against the model without it."
_DENSITY = Drop('only loss_type="bco" used it')
_EMBEDDING = only_none("It belonged to BCO, which TRL has no more.")

ROWS: tuple[Change, ...] = (
    *keywords(
        ("trl.KTOTrainer", "trl.ORPOTrainer", "trl.CPOTrainer"),
        {"tokenizer": _NEW_CLASS},
        gone="trl 0.12.0",
        since="trl 0.12.0",
    ),
    *keywords(
        _KTO,
        {"embedding_func": _EMBEDDING, "embedding_tokenizer": _EMBEDDING},
        gone="trl 0.10.1",
    ),
    *keywords(
        _KTO,
        {
            "model_adapter_name": Drop(
                "the adapter named default is trained",
                unless=lambda name: name not in (None, "default"),
                instead=_ADAPTER,
            ),
            "ref_adapter_name": only_none(_ADAPTER),
        },
        gone="trl 1.2.0",
    ),
    *keywords(
        _KTO,
        {
            "model_init": only_none(
                "Pass the model: model=…, which is what the function returned."
            ),
            "preprocess_logits_for_metrics": only_none(
                "Do it in compute_metrics, or override prediction_step of the trainer."
            ),
        },
        gone="trl 1.4.0",
    ),
    *keywords(
        _KTO_CONFIG,
        {
            "prompt_sample_size": _DENSITY,
            "min_density_ratio": _DENSITY,
            "max_density_ratio": _DENSITY,
        },
        gone="trl 0.10.1",
    ),
    *keywords(
        _KTO_CONFIG,
        {
            "max_completion_length": Drop("only models with an encoder and a decoder used it"),
            "is_encoder_decoder": only_false(
                "the model says it", "KTOTrainer trains models without an encoder only."
            ),
        },
        gone="trl 0.27.0",
    ),
    *keywords(
        _KTO_CONFIG,
        {
            "label_pad_token_id": _NOT_COUNTED,
            "padding_value": _MASKED,
            "ref_model_init_kwargs": only_none("Load the reference model: ref_model=…"),
            "base_model_attribute_name": Drop("the model says it"),
        },
        gone="trl 0.28.0",
    ),
    *keywords(
        _KTO_CONFIG,
        {"use_liger_loss": Convert("use_liger_kernel", liger_kernel, written="{value}")},
        gone="trl 0.28.0",
        since="trl 0.25.0",
    ),
    *keywords(
        _KTO_CONFIG,
        {
            "generate_during_eval": only_false(
                "nothing was to be generated",
                "Generate texts in a callback: trl.LogCompletionsCallback.",
            )
        },
        gone="trl 1.2.0",
    ),
    *keywords(
        ("trl.CPOConfig",),
        {"max_target_length": Drop("only models with an encoder and a decoder used it")},
        gone="trl 0.11.0",
    ),
    *keywords(
        _PAIRS,
        {"label_pad_token_id": _NOT_COUNTED},
        gone="trl 0.28.0",
    ),
    *keywords(
        ("trl.CPOConfig",),
        {"padding_value": _MASKED},
        gone="trl 0.28.0",
    ),
)
