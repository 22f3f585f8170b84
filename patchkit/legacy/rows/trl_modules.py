"""Modules of TRL that moved or went, and names of modules that are still there."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Moved

_WRITTEN = "patchkit.legacy.replacements"
_AVAILABILITY = f"{_WRITTEN}.availability"

_MODULES = {
    "0.29.0": {
        f"trl.trainer.{algorithm}_{part}": f"trl.experimental.{algorithm}.{algorithm}_{part}"
        for algorithm in ("bco", "cpo", "gkd", "nash_md", "online_dpo", "orpo", "ppo", "prm", "xpo")
        for part in ("config", "trainer")
    }
    | {
        "trl.trainer.judges": "trl.experimental.judges",
        "trl.mergekit_utils": "trl.experimental.merge_model_callback",
        "trl.extras.vllm_client": "trl.generation.vllm_client",
    },
}
"""Modules, by the release that they are gone since."""

_SCRIPT_ARGUMENTS = f"{_WRITTEN}.script_arguments"
_EARLY = f"{_WRITTEN}.early_script_arguments"
_COMMANDS = {
    "DPOScriptArguments": f"{_SCRIPT_ARGUMENTS}.DPOScriptArguments",
    "DpoScriptArguments": f"{_EARLY}.DpoScriptArguments",
    "RewardScriptArguments": f"{_SCRIPT_ARGUMENTS}.RewardScriptArguments",
    "SFTScriptArguments": f"{_SCRIPT_ARGUMENTS}.SFTScriptArguments",
    "SftScriptArguments": f"{_EARLY}.SftScriptArguments",
    "TrlParser": "trl.TrlParser",
    "init_zero_verbose": "trl.init_zero_verbose",
}
_CORE = (
    "LengthSampler",
    "WANDB_PADDING",
    "clip_by_value",
    "flatten_dict",
    "logprobs_from_logits",
    "masked_mean",
    "masked_var",
    "masked_whiten",
    "stack_dicts",
    "top_k_top_p_filtering",
    "whiten",
)
_FORMATTING = (
    "conversations_formatting_function",
    "get_formatting_func_from_dataset",
    "instructions_formatting_function",
)
_OWN_CHECKS = (
    "bitsandbytes",
    "diffusers",
    "fastapi",
    "joblib",
    "llm_blender",
    "pil",
    "pydantic",
    "torchvision",
    "uvicorn",
    "vllm_ascend",
    "wandb",
)
_CHECKS = {f"is_{name}_available": f"{_AVAILABILITY}.is_{name}_available" for name in _OWN_CHECKS}
_CHECKS |= {
    "is_accelerate_greater_20_0": f"{_AVAILABILITY}.is_always_supported",
    "is_llmblender_available": f"{_AVAILABILITY}.is_llm_blender_available",
    "is_npu_available": "transformers.utils.is_torch_npu_available",
    "is_peft_available": "transformers.utils.is_peft_available",
    "is_rich_available": "transformers.utils.is_rich_available",
    "is_sklearn_available": "transformers.utils.is_sklearn_available",
    "is_torch_greater_2_0": f"{_AVAILABILITY}.is_always_supported",
    "is_transformers_greater_than": f"{_AVAILABILITY}.is_transformers_greater_than",
    "is_xpu_available": "transformers.utils.is_torch_xpu_available",
}
_CHAT = f"{_WRITTEN}.chat"
_UTILS = "trl.experimental.utils"

_NAMES = {
    "0.13.0": {
        "trl.commands": _COMMANDS,
        "trl.commands.cli_utils": _COMMANDS,
        "trl.env_utils": {"strtobool": "transformers.utils.strtobool"},
    },
    "0.14.0": {
        "trl.core": {
            "entropy_from_logits": "trl.trainer.utils.entropy_from_logits",
            "set_seed": "transformers.set_seed",
        },
    },
    "0.17.0": {"trl": {"is_diffusers_available": _CHECKS["is_diffusers_available"]}},
    "0.20.0": {
        "trl.data_utils": {"pack_examples": f"{_WRITTEN}.packing.pack_examples"},
        "trl.trainer.utils": {
            "DataCollatorForCompletionOnlyLM": (
                f"{_WRITTEN}.collators.DataCollatorForCompletionOnlyLM"
            ),
            "is_unsloth_available": "trl.import_utils.is_unsloth_available",
            "is_xpu_available": "transformers.utils.is_torch_xpu_available",
        },
        "trl.trainer.sft_trainer": {
            "DataCollatorForCompletionOnlyLM": (
                f"{_WRITTEN}.collators.DataCollatorForCompletionOnlyLM"
            ),
        },
    },
    "0.24.0": {
        "trl.trainer": {"is_diffusers_available": _CHECKS["is_diffusers_available"]},
    },
    "0.26.0": {
        "trl.core": {name: f"{_WRITTEN}.core.{name}" for name in _CORE},
        "trl.models": {"setup_chat_format": f"{_CHAT}.setup_chat_format"},
        "trl.models.utils": {"setup_chat_format": f"{_CHAT}.setup_chat_format"},
    },
    "0.27.0": {
        "trl.trainer.utils": {
            "RewardDataCollatorWithPadding": (
                f"{_WRITTEN}.reward_collator.RewardDataCollatorWithPadding"
            )
        },
        "trl.extras.dataset_formatting": {
            name: f"{_WRITTEN}.formatting.{name}" for name in _FORMATTING
        },
        "trl.models": {
            "clone_chat_template": "trl.clone_chat_template",
            "prepare_peft_model": f"{_UTILS}.prepare_peft_model",
        },
        "trl.models.modeling_base": {"create_reference_model": "trl.create_reference_model"},
        "trl.models.utils": {
            "ChatMlSpecialTokens": f"{_CHAT}.ChatMlSpecialTokens",
            "FORMAT_MAPPING": f"{_CHAT}.FORMAT_MAPPING",
            "clone_chat_template": "trl.clone_chat_template",
            "prepare_peft_model": f"{_UTILS}.prepare_peft_model",
        },
    },
    "0.29.0": {
        "trl.trainer": {
            "empty_cache": f"{_UTILS}.empty_cache",
            "peft_module_casting_to_bf16": f"{_UTILS}.peft_module_casting_to_bf16",
        },
        "trl.trainer.dpo_config": {
            "FDivergenceConstants": f"{_WRITTEN}.divergences.FDivergenceConstants",
            "FDivergenceType": f"{_WRITTEN}.divergences.FDivergenceType",
        },
        "trl.trainer.callbacks": {
            "MergeModelCallback": "trl.experimental.merge_model_callback.MergeModelCallback",
            "WinRateCallback": "trl.experimental.winrate_callback.WinRateCallback",
        },
        "trl.trainer.utils": {
            "SIMPLE_CHAT_TEMPLATE": f"{_CHAT}.SIMPLE_CHAT_TEMPLATE",
            "SIMPLE_SFT_CHAT_TEMPLATE": f"{_CHAT}.SIMPLE_SFT_CHAT_TEMPLATE",
        }
        | {
            name: f"{_UTILS}.{name}"
            for name in (
                "DPODataCollatorWithPadding",
                "DataCollatorForChatML",
                "add_bos_token_if_needed",
                "add_eos_token_if_needed",
                "empty_cache",
                "first_true_indices",
                "get_reward",
                "pad_to_length",
                "peft_module_casting_to_bf16",
                "truncate_right",
            )
        },
    },
    "1.0.0": {"trl.data_utils": {"truncate_dataset": f"{_UTILS}.truncate_dataset"}},
    "1.9.0": {
        "trl.trainer.utils": {"get_kbit_device_map": f"{_WRITTEN}.devices.get_kbit_device_map"}
    },
}
"""Names, by the release that they are gone since and by their module."""

_CHECKS_GONE = {
    "is_diffusers_available": "0.24.0",
    "is_fastapi_available": "1.11.0",
    "is_joblib_available": "1.14.0",
    "is_llm_blender_available": "1.2.0",
    "is_pydantic_available": "1.11.0",
    "is_uvicorn_available": "1.11.0",
    "is_vllm_ascend_available": "1.11.0",
}
"""Functions of `trl.import_utils`, and since when they are gone; the others since 0.20.0."""


def _rows() -> Iterator[Change]:
    for release, modules in _MODULES.items():
        for name, to in modules.items():
            yield _moved(name, to, release)
    for release, places in _NAMES.items():
        for place, names in places.items():
            for name, to in names.items():
                yield _moved(f"{place}.{name}", to, release)
    for name, to in _CHECKS.items():
        yield _moved(f"trl.import_utils.{name}", to, _CHECKS_GONE.get(name, "0.20.0"))


def _moved(name: str, to: str, release: str) -> Moved:
    return Moved(name=name, to=to, gone=f"trl {release}")


ROWS: tuple[Change, ...] = tuple(_rows())
