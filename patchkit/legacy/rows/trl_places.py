"""Names of TRL that modules had imported for themselves, and that scripts took from there."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Gone, Moved
from ..sources import notes

_WRITTEN = "patchkit.legacy.replacements"
_AVAILABILITY = f"{_WRITTEN}.availability"
_EXPERIMENTAL = "trl.experimental"
_UTILS = f"{_EXPERIMENTAL}.utils"
_IMPORTS = "trl.import_utils"
_MERGING = f"{_EXPERIMENTAL}.merge_model_callback"
_NPU, _XPU = (
    "transformers.utils.is_torch_npu_available",
    "transformers.utils.is_torch_xpu_available",
)

_MOVED = {
    "0.7.5": {
        "trainer.utils.PeftSavingCallback": f"{_WRITTEN}.callbacks.PeftSavingCallback",
    },
    "0.10.1": {
        "trainer.utils.RichProgressCallback": "trl.RichProgressCallback",
        "trainer.utils.SyncRefModelCallback": "trl.SyncRefModelCallback",
    },
    "0.11.0": {
        "core.is_npu_available": _NPU,
        "core.is_xpu_available": _XPU,
        "trainer.model_config.flatten_dict": f"{_WRITTEN}.core.flatten_dict",
        "trainer.sft_trainer.RichProgressCallback": "trl.RichProgressCallback",
        "trainer.utils.SIMPLE_QUERY_CHAT_TEMPLATE": f"{_WRITTEN}.chat.SIMPLE_QUERY_CHAT_TEMPLATE",
    },
    "0.12.0": {
        f"trainer.dpo_trainer.{name}": f"{_UTILS}.{name}"
        for name in (
            "DPODataCollatorWithPadding",
            "add_bos_token_if_needed",
            "add_eos_token_if_needed",
        )
    }
    | {
        "trainer.sft_trainer.neftune_post_forward_hook": (
            "transformers.integrations.neftune.neftune_post_forward_hook"
        ),
        "trainer.utils.neftune_post_forward_hook": (
            "transformers.integrations.neftune.neftune_post_forward_hook"
        ),
    },
    "0.13.0": {"commands.cli.main": "trl.cli.main"},
    "0.15.0": {
        "trainer.sft_trainer.get_formatting_func_from_dataset": (
            f"{_WRITTEN}.formatting.get_formatting_func_from_dataset"
        )
    },
    "0.16.0": {
        "trainer.sft_trainer.is_liger_kernel_available": f"{_IMPORTS}.is_liger_kernel_available"
    },
    "0.17.0": {
        "trainer.sft_trainer.maybe_apply_chat_template": "trl.data_utils.maybe_apply_chat_template"
    },
    "0.18.0": {"trainer.grpo_trainer.is_deepspeed_available": f"{_IMPORTS}.is_deepspeed_available"},
    "0.22.0": {
        "trainer.sft_trainer.peft_module_casting_to_bf16": f"{_UTILS}.peft_module_casting_to_bf16"
    },
    "0.24.0": {"models.is_diffusers_available": f"{_AVAILABILITY}.is_diffusers_available"},
    "0.26.0": {
        "trainer.kto_trainer.is_wandb_available": f"{_AVAILABILITY}.is_wandb_available",
        "trainer.sft_trainer.prepare_peft_model": f"{_UTILS}.prepare_peft_model",
        "trainer.callbacks.is_mergekit_available": f"{_IMPORTS}.is_mergekit_available",
    }
    | {
        f"trainer.callbacks.{name}": f"{_MERGING}.{name}"
        for name in ("MergeConfig", "merge_models", "upload_model_to_hf")
    },
    "0.28.0": {
        f"trainer.{module}_trainer.is_vllm_available": f"{_IMPORTS}.is_vllm_available"
        for module in ("grpo", "rloo")
    },
    "0.29.0": {
        f"trainer.dpo_trainer.{name}": f"{place}.{name}"
        for place, names in {
            f"{_WRITTEN}.divergences": ("FDivergenceConstants", "FDivergenceType"),
            _UTILS: ("empty_cache", "pad_to_length", "peft_module_casting_to_bf16"),
            "trl": ("create_reference_model",),
            "trl.data_utils": ("maybe_apply_chat_template", "maybe_extract_prompt"),
        }.items()
        for name in names
    }
    | {
        "models.modeling_base.is_npu_available": _NPU,
        "trainer.dpo_trainer.is_wandb_available": f"{_AVAILABILITY}.is_wandb_available",
        "models.modeling_base.is_peft_available": "transformers.utils.is_peft_available",
        "models.modeling_base.is_xpu_available": _XPU,
        "models.modeling_base.is_transformers_greater_than": (
            f"{_AVAILABILITY}.is_transformers_greater_than"
        ),
    },
    "1.0.0": {"trainer.sft_trainer.truncate_dataset": f"{_UTILS}.truncate_dataset"},
    "1.1.0": {"trainer.utils.prepare_deepspeed": "trl.models.utils.prepare_deepspeed"},
    "1.15.0": {
        "data_utils.prepare_multimodal_messages_vllm": (
            f"{_WRITTEN}.multimodal.prepare_multimodal_messages_vllm"
        ),
        "trainer.grpo_trainer.is_liger_kernel_available": f"{_IMPORTS}.is_liger_kernel_available",
        "trainer.kto_trainer.is_liger_kernel_available": f"{_IMPORTS}.is_liger_kernel_available",
    },
}
"""What is found elsewhere, by the release that its module lacks it since."""

_PACKING = 'SFTConfig(packing=True, packing_strategy="wrapped") packs in the nearest way.'
_REWARDS = "TRL trains with rewards by GRPOTrainer and RLOOTrainer, which have no value head."
_JUDGES = "OnlineDPOTrainer, in trl.experimental.online_dpo, takes reward_funcs=: plain functions."
_HELPERS = "It was a helper of trainers that are gone."
_CHAT = "transformers chat talks to a model that transformers serve serves."
_YAML = "TrlParser reads files of YAML by itself."

_GONE: dict[str, dict[str, tuple[str, ...]]] = {
    "0.13.0": {
        _CHAT: ("commands.cli_utils.ChatArguments",),
        _YAML: ("commands.YamlConfigParser", "commands.cli_utils.YamlConfigParser"),
        "The command is trl.": ("commands.cli.SUPPORTED_COMMANDS",),
    },
    "0.14.0": {
        "DataCollatorForPreference, in that module, takes the columns of today.": (
            "trainer.dpo_trainer.PreferenceCollator",
        ),
        _HELPERS: ("trainer.utils.trl_sanitze_kwargs_for_tagging",),
    },
    "0.18.0": {
        _REWARDS: tuple(
            f"trainer.{module}_trainer.PreTrainedModelWrapper"
            for module in ("dpo", "gkd", "kto", "orpo")
        )
    },
    "0.20.0": {_PACKING: ("extras.dataset_formatting.ConstantLengthDataset",)},
    "0.25.0": {
        "tokenizer.batch_decode(ids, skip_special_tokens=True) leaves padding out.": (
            "trainer.utils.decode_and_strip_padding",
        )
    },
    "0.26.0": {
        _JUDGES: (
            "trainer.callbacks.BasePairwiseJudge",
            "trainer.online_dpo_trainer.BasePairwiseJudge",
        )
    },
    "0.27.0": {
        _HELPERS: ("models.SUPPORTED_ARCHITECTURES",),
        "RewardTrainer reports accuracy by itself.": ("trainer.compute_accuracy",),
    },
    "0.29.0": {
        _HELPERS: (
            "models.modeling_base.LAYER_PATTERNS",
            "trainer.dpo_trainer.RunningMoments",
            "trainer.dpo_trainer.cap_exp",
            "trainer.utils.cap_exp",
            "trainer.utils.get_exp_cap",
        )
    },
    "1.0.0": {
        "flush_left, in trl.trainer.utils, does it to the other side.": (
            "trainer.dpo_trainer.flush_right",
            "trainer.utils.flush_right",
        )
    },
}
"""What has no counterpart, by that release and by what to do."""


def _rows() -> Iterator[Change]:
    for release, moved in _MOVED.items():
        source, gone = notes(f"trl {release}"), f"trl {release}"
        for name, to in moved.items():
            yield Moved(name=f"trl.{name}", to=to, gone=gone, source=source)
    for release, reasons in _GONE.items():
        source, gone = notes(f"trl {release}"), f"trl {release}"
        for instead, names in reasons.items():
            for name in names:
                yield Gone(name=f"trl.{name}", instead=instead, gone=gone, source=source)


ROWS: tuple[Change, ...] = tuple(_rows())
