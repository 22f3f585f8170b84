"""Names of TRL's top level that moved, and the same names in `trl.trainer`."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Moved

_WRITTEN = "patchkit.legacy.replacements"

_EXPERIMENTAL = {
    "cpo": ("CPOConfig", "CPOTrainer"),
    "gkd": ("GKDConfig", "GKDTrainer"),
    "online_dpo": ("OnlineDPOConfig", "OnlineDPOTrainer"),
    "orpo": ("ORPOConfig", "ORPOTrainer"),
}
"""Where names of the top level went with TRL 0.29."""

_MOVED = {
    "0.9.2": {
        "DpoScriptArguments": f"{_WRITTEN}.early_script_arguments.DpoScriptArguments",
        "SftScriptArguments": f"{_WRITTEN}.early_script_arguments.SftScriptArguments",
    },
    "0.11.0": {
        "is_bitsandbytes_available": f"{_WRITTEN}.availability.is_bitsandbytes_available",
        "is_npu_available": "transformers.utils.is_torch_npu_available",
        "is_openai_available": "transformers.utils.is_openai_available",
        "is_peft_available": "transformers.utils.is_peft_available",
        "is_pil_available": f"{_WRITTEN}.availability.is_pil_available",
        "is_wandb_available": f"{_WRITTEN}.availability.is_wandb_available",
        "is_xpu_available": "transformers.utils.is_torch_xpu_available",
    },
    "0.12.0": {
        "MultitaskPromptEmbedding": "peft.tuners.multitask_prompt_tuning.MultitaskPromptEmbedding",
        "MultitaskPromptTuningConfig": "peft.MultitaskPromptTuningConfig",
        "MultitaskPromptTuningInit": "peft.MultitaskPromptTuningInit",
        "is_liger_kernel_available": "trl.import_utils.is_liger_kernel_available",
        "is_llmblender_available": f"{_WRITTEN}.availability.is_llm_blender_available",
    },
    "0.13.0": {
        "DPOScriptArguments": f"{_WRITTEN}.script_arguments.DPOScriptArguments",
        "SFTScriptArguments": f"{_WRITTEN}.script_arguments.SFTScriptArguments",
    },
    "0.14.0": {"set_seed": "transformers.set_seed"},
    "0.17.0": {
        "is_deepspeed_available": "trl.import_utils.is_deepspeed_available",
        "is_llm_blender_available": f"{_WRITTEN}.availability.is_llm_blender_available",
        "is_mergekit_available": "trl.import_utils.is_mergekit_available",
        "is_rich_available": "transformers.utils.is_rich_available",
        "is_unsloth_available": "trl.import_utils.is_unsloth_available",
        "is_vllm_available": "trl.import_utils.is_vllm_available",
    },
    "0.20.0": {
        "DataCollatorForCompletionOnlyLM": f"{_WRITTEN}.collators.DataCollatorForCompletionOnlyLM",
        "pack_examples": f"{_WRITTEN}.packing.pack_examples",
    },
    "0.26.0": {"setup_chat_format": f"{_WRITTEN}.chat.setup_chat_format"},
    "0.27.0": {"MergeModelCallback": "trl.experimental.merge_model_callback.MergeModelCallback"},
    "0.29.0": {
        "FDivergenceConstants": f"{_WRITTEN}.divergences.FDivergenceConstants",
        "FDivergenceType": f"{_WRITTEN}.divergences.FDivergenceType",
    },
    "1.0.0": {"truncate_dataset": "trl.experimental.utils.truncate_dataset"},
    "1.8.0": {"get_kbit_device_map": f"{_WRITTEN}.devices.get_kbit_device_map"},
    "1.15.0": {
        "prepare_multimodal_messages_vllm": (
            f"{_WRITTEN}.multimodal.prepare_multimodal_messages_vllm"
        )
    },
}

_PLACES = ("trl", "trl.trainer")


def _rows() -> Iterator[Change]:
    for place in _PLACES:
        for release, moved in _MOVED.items():
            for name, to in moved.items():
                yield Moved(
                    name=f"{place}.{name}",
                    to=to,
                    gone=f"trl {release}",
                )
        for folder, names in _EXPERIMENTAL.items():
            for name in names:
                yield Moved(
                    name=f"{place}.{name}",
                    to=f"trl.experimental.{folder}.{name}",
                    gone="trl 0.29.0",
                    since="trl 0.26.0",
                )


ROWS: tuple[Change, ...] = tuple(_rows())
