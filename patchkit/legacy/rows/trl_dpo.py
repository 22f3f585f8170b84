"""Keywords of `DPOTrainer` and `DPOConfig`."""

from __future__ import annotations

from ..changes import Change, Configure, Convert, Drop, Rename, Value
from ..converting.conversions import liger_kernel, rpo
from ..sources import notes
from .many import keywords, only_false, only_none

_TRAINER = ("trl.DPOTrainer",)
_CONFIG = ("trl.DPOConfig",)
_MOVED = (
    "beta",
    "label_smoothing",
    "loss_type",
    "label_pad_token_id",
    "padding_value",
    "truncation_mode",
    "max_length",
    "max_target_length",
    "is_encoder_decoder",
    "disable_dropout",
    "generate_during_eval",
    "precompute_ref_log_probs",
    "dataset_num_proc",
    "model_init_kwargs",
    "ref_model_init_kwargs",
    "model_adapter_name",
    "ref_adapter_name",
    "reference_free",
    "force_use_ref_model",
)
_MEMORY = Drop("it only saved memory")
_ADAPTER = "DPOTrainer trains the adapter named default, against the model without it."
_NO_TEXTS = "Generate texts in a callback: trl.LogCompletionsCallback."

ROWS: tuple[Change, ...] = (
    *keywords(
        _TRAINER,
        {"tokenizer": Rename("processing_class")},
        gone="trl 0.16.0",
        since="trl 0.12.0",
        source=notes("trl 0.12.0"),
    ),
    *keywords(
        _TRAINER,
        {name: Configure(name) for name in _MOVED},
        gone="trl 0.13.0",
        since="trl 0.9.2",
    ),
    *keywords(
        _TRAINER,
        {"model_init": only_none("Pass the model: model=…, which is what the function returned.")},
        gone="trl 0.19.0",
    ),
    *keywords(
        _TRAINER,
        {
            "preprocess_logits_for_metrics": only_none(
                "Do it in compute_metrics, or override prediction_step of the trainer."
            ),
            "optimizer_cls_and_kwargs": only_none("Pass optimizers=(optimizer, scheduler)."),
        },
        gone="trl 0.29.0",
    ),
    *keywords(
        _CONFIG,
        {"max_target_length": Drop("only models with an encoder and a decoder used it")},
        gone="trl 0.14.0",
    ),
    *keywords(
        _CONFIG,
        {
            "is_encoder_decoder": only_false(
                "the model says it", "DPOTrainer trains models without an encoder only."
            )
        },
        gone="trl 0.15.0",
    ),
    *keywords(
        _CONFIG,
        {"use_num_logits_to_keep": _MEMORY},
        gone="trl 0.17.0",
    ),
    *keywords(
        _CONFIG,
        {"padding_value": Drop("padding is masked, so that no result depends on it")},
        gone="trl 0.26.0",
    ),
    *keywords(
        _CONFIG,
        {"use_liger_loss": Convert("use_liger_kernel", liger_kernel, written="{value}")},
        gone="trl 0.28.0",
        since="trl 0.25.0",
    ),
    *keywords(
        _CONFIG,
        {
            "rpo_alpha": Convert('loss_type=[…, "sft"] and loss_weights', rpo),
        },
        gone="trl 0.29.0",
        since="trl 0.20.0",
    ),
    *keywords(
        _CONFIG,
        {
            "label_pad_token_id": Drop(
                "labels that do not count are -100",
                unless=lambda value: value not in (None, -100),
                instead="Give -100 to what does not count.",
            ),
            "generate_during_eval": only_false("nothing was to be generated", _NO_TEXTS),
            "ref_model_init_kwargs": only_none("Load the reference model: ref_model=…"),
            "model_adapter_name": Drop(
                "the adapter named default is trained",
                unless=lambda name: name not in (None, "default"),
                instead=_ADAPTER,
            ),
            "ref_adapter_name": only_none(_ADAPTER),
            "reference_free": only_false(
                "there is a reference", "CPOTrainer, in trl.experimental.cpo, needs none."
            ),
            "force_use_ref_model": Drop("a reference model that is passed is used"),
            "tools": only_none("Put the tools into a column `tools` of the dataset."),
            "use_logits_to_keep": _MEMORY,
            "base_model_attribute_name": Drop("the model says it"),
        },
        gone="trl 0.29.0",
    ),
    Value(
        owners=_CONFIG,
        name="loss_type",
        value="aot_pair",
        to="aot_unpaired",
        gone="trl 0.29.0",
        since="trl 0.28.0",
    ),
)
