"""Keywords whose old values a function turns into current ones, or tells from those that matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..changes import Action, Change, Configure, Convert, Converter, Drop, Keyword
from ..converting import conversions, loading
from ..sources import notes, pull

_ARGUMENTS = ("transformers.TrainingArguments",)
_MODELS = (
    "transformers._BaseAutoModelClass.from_pretrained",
    "transformers.PreTrainedModel.from_pretrained",
)
_TOKENIZING = tuple(
    f"transformers.PreTrainedTokenizerBase.{method}" for method in ("__call__", "encode")
)
_SFT = ("trl.SFTConfig", "trl.GKDConfig")
_CARDS = tuple(
    f"trl.{trainer}.create_model_card"
    for trainer in (
        *("_BaseTrainer", "BaseTrainer", "CPOTrainer", "DPOTrainer", "GKDTrainer", "KTOTrainer"),
        *("GRPOTrainer", "ORPOTrainer", "OnlineDPOTrainer", "RewardTrainer", "SFTTrainer"),
    )
)
"""The method of all classes that define it, in one release or another."""
_LIGER = Convert("use_liger_kernel", conversions.liger_kernel, written="{value}")
_BACKEND = Drop(
    "PyTorch does it",
    unless=lambda backend: backend == "apex",
    instead="Leave it out: PyTorch does it.",
)


def _quantized(switch: str, convert: Converter) -> Convert:
    written = f"{{transformers.BitsAndBytesConfig}}({switch}=True) if {{value}} else None"
    return Convert("quantization_config", convert, written=written)


def _named(value: Any, call: Any) -> dict[str, Any]:
    if value is None:
        return {}
    return {"dataset_name": value if isinstance(value, str) else ", ".join(value)}


def _keywords(
    owners: tuple[str, ...],
    actions: Mapping[str, Action],
    *,
    gone: str,
    since: str = "",
    source: str = "",
) -> Iterator[Keyword]:
    """Yield a row for each keyword of some classes that went with one release."""
    for name, action in actions.items():
        yield Keyword(
            owners=owners, name=name, action=action, gone=gone, since=since, source=source
        )


ROWS: tuple[Change, ...] = (
    *_keywords(
        ("trl.SFTTrainer",),
        {"max_seq_length": Configure("max_length", conversions.longest)},
        gone="trl 0.13.0",
        since="trl 0.16.0",
    ),
    *_keywords(
        _SFT,
        {
            "max_seq_length": Convert(
                "max_length", conversions.longest, alike=True, written="{value}"
            )
        },
        gone="trl 0.20.0",
        since="trl 0.16.0",
        source=pull("trl", 2947),
    ),
    *_keywords(
        _SFT,
        {"use_liger": _LIGER},
        gone="trl 0.18.0",
        since="trl 0.16.0",
        source=notes("trl 0.16.0"),
    ),
    *(
        Keyword(
            owners=(f"trl.{algorithm}Config",),
            name="use_liger_loss",
            action=_LIGER,
            gone="trl 0.28.0",
            since="trl 0.25.0",
        )
        for algorithm in ("DPO", "KTO", "GRPO")
    ),
    *_keywords(
        ("trl.DPODataCollatorWithPadding",),
        {
            "tokenizer": Convert(
                "pad_token_id",
                lambda tokenizer, call: {"pad_token_id": getattr(tokenizer, "pad_token_id", 0)},
                written="{value}.pad_token_id",
            )
        },
        gone="trl 0.7.5",
    ),
    *_keywords(
        ("trl.DPOConfig",),
        {"rpo_alpha": Convert('loss_type=[…, "sft"] and loss_weights', conversions.rpo)},
        gone="trl 0.29.0",
        since="trl 0.20.0",
    ),
    *_keywords(
        ("trl.GRPOConfig",),
        {
            name: Convert("", conversions.picked_by_vllm(name))
            for name in ("vllm_device", "vllm_dtype")
        },
        gone="trl 0.18.0",
        source=notes("trl 0.16.0"),
    ),
    *_keywords(
        ("trl.RLOOConfig",),
        {"total_episodes": Convert("max_steps", conversions.steps_of_episodes)},
        gone="trl 0.25.0",
        since="trl 0.22.0",
        source="https://huggingface.co/docs/trl/en/rloo_trainer"
        "#migration-guide-from-the-old-implementation-021-and-below",
    ),
    *_keywords(
        ("trl.ModelConfig",),
        {"torch_dtype": Convert("dtype", conversions.named_dtype, alike=True, written="{value}")},
        gone="trl 0.27.0",
        since="trl 0.23.0",
        source=notes("trl 0.23.0"),
    ),
    *_keywords(
        _CARDS, {"dataset": Convert("dataset_name", _named)}, gone="trl 0.12.0", since="trl 0.12.0"
    ),
    *_keywords(
        _MODELS,
        {
            "load_in_4bit": _quantized("load_in_4bit", loading.in_4bit),
            "load_in_8bit": _quantized("load_in_8bit", loading.in_8bit),
        },
        gone="transformers 5.0.0",
        since="transformers 4.36.0",
        source="https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",
    ),
    *_keywords(
        _MODELS,
        {
            "use_flash_attention_2": Convert(
                "attn_implementation",
                loading.flash_attention,
                written='"flash_attention_2" if {value} else None',
            ),
        },
        gone="transformers 4.53.0",
        since="transformers 4.36.2",
        source=notes("transformers 4.53.0"),
    ),
    *_keywords(
        _ARGUMENTS,
        {
            "dispatch_batches": Convert("accelerator_config", conversions.dispatching),
            "split_batches": Convert("accelerator_config", conversions.splitting),
        },
        gone="transformers 4.51.0",
        since="transformers 4.38.0",
        source=pull("transformers", 36946),
    ),
    *_keywords(
        _ARGUMENTS,
        {
            "adafactor": Convert("optim", conversions.adafactor),
            "per_gpu_train_batch_size": Convert(
                "per_device_train_batch_size", conversions.train_batch_size, written="{value}"
            ),
            "per_gpu_eval_batch_size": Convert(
                "per_device_eval_batch_size", conversions.eval_batch_size, written="{value}"
            ),
            "push_to_hub_model_id": Convert(
                "hub_model_id", conversions.repository, written="{value}"
            ),
            "push_to_hub_organization": Convert("hub_model_id", conversions.organization),
            "include_inputs_for_metrics": Convert(
                "include_for_metrics",
                conversions.inputs_for_metrics,
                written='["inputs"] if {value} else []',
            ),
            "tpu_metrics_debug": Convert("debug", conversions.tpu_metrics),
            "fsdp_min_num_params": Convert("fsdp_config", conversions.least_parameters),
            "fsdp_transformer_layer_cls_to_wrap": Convert("fsdp_config", conversions.wrapped_layer),
        },
        gone="transformers 5.0.0",
        since="transformers 4.46.0",
        source=pull("transformers", 41017),
    ),
    *_keywords(
        _ARGUMENTS,
        {
            "half_precision_backend": _BACKEND,
            "fp16_backend": _BACKEND,
            "past_index": Drop(
                "no state was handed on",
                unless=lambda index: index >= 0,
                instead="Nothing hands a state on from batch to batch.",
            ),
        },
        gone="transformers 5.0.0",
        source=pull("transformers", 41017),
    ),
    *_keywords(
        _ARGUMENTS,
        {
            "group_by_length": Convert(
                "train_sampling_strategy",
                conversions.sampling,
                written='"group_by_length" if {value} else "random"',
            )
        },
        gone="transformers 5.2.0",
        since="transformers 5.2.0",
        source=pull("transformers", 43138),
    ),
    *_keywords(
        _ARGUMENTS,
        {"warmup_ratio": Convert("warmup_steps", conversions.share_of_steps, written="{value}")},
        gone="transformers 5.15.0",
        since="transformers 5.0.0",
        source=pull("transformers", 46917),
    ),
    *_keywords(
        _TOKENIZING,
        {
            "pad_to_max_length": Convert("padding", conversions.padding_to_length),
            "truncation_strategy": Convert("truncation", conversions.truncating),
        },
        gone="transformers 4.52.0",
        since="transformers 4.36.0",
    ),
    *_keywords(
        ("accelerate.Accelerator",),
        {
            name: Convert("dataloader_config", conversions.data_loader(name))
            for name in ("dispatch_batches", "even_batches", "use_seedable_sampler")
        },
        gone="accelerate 1.0.0",
        since="accelerate 0.28.0",
    ),
)
