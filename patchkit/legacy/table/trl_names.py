"""Names of TRL's top level that moved or went, and the same names in `trl.trainer`."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Gone, Moved

_NOTES = "https://github.com/huggingface/trl/releases/tag/v{}"
_WRITTEN = "patchkit.legacy.written"

_EXPERIMENTAL = {
    "bco": ("BCOConfig", "BCOTrainer"),
    "cpo": ("CPOConfig", "CPOTrainer"),
    "gkd": ("GKDConfig", "GKDTrainer"),
    "judges": (
        "AllTrueJudge",
        "BaseBinaryJudge",
        "BaseJudge",
        "BasePairwiseJudge",
        "BaseRankJudge",
        "HfPairwiseJudge",
        "OpenAIPairwiseJudge",
        "PairRMJudge",
    ),
    "merge_model_callback": ("MergeModelCallback",),
    "nash_md": ("NashMDConfig", "NashMDTrainer"),
    "online_dpo": ("OnlineDPOConfig", "OnlineDPOTrainer"),
    "orpo": ("ORPOConfig", "ORPOTrainer"),
    "ppo": (
        "AutoModelForCausalLMWithValueHead",
        "AutoModelForSeq2SeqLMWithValueHead",
        "PPOConfig",
        "PPOTrainer",
        "PreTrainedModelWrapper",
    ),
    "prm": ("PRMConfig", "PRMTrainer"),
    "winrate_callback": ("WinRateCallback",),
    "xpo": ("XPOConfig", "XPOTrainer"),
}
"""Where names of the top level went with TRL 0.29; some have left from there since."""

_REWARDS = "TRL trains with rewards by GRPOTrainer and RLOOTrainer."
_PAIRS = "DPOTrainer trains with pairs of answers, KTOTrainer with single ones that are marked."
_NOTHING = "Nothing in TRL takes its place."
_JUDGES = "Nothing judges answers in TRL; a reward function of GRPOTrainer can."
_IMAGES = "TRL trains no diffusion models any more."

_INSTEAD = {
    "bco": _PAIRS,
    "judges": _JUDGES,
    "nash_md": _PAIRS,
    "ppo": _REWARDS,
    "prm": "RewardTrainer trains models that judge whole answers; none judges their steps.",
    "winrate_callback": "A callback of your own can compare the answers of two models.",
    "xpo": _PAIRS,
}

_GONE = {
    "0.13.0": {
        "PPOv2Config": _REWARDS,
        "PPOv2Trainer": _REWARDS,
        "RandomPairwiseJudge": _JUDGES,
        "RandomRankJudge": _JUDGES,
    },
    "0.20.0": {
        "ConstantLengthDataset": (
            "SFTConfig(packing=True) packs rows, in another way; it needs no such dataset."
        ),
    },
    "0.21.0": {
        "TextEnvironment": "GRPOTrainer(environment_factory=…) and its tools take its place.",
        "TextHistory": _NOTHING,
    },
    "0.24.0": {
        "AlignPropConfig": _IMAGES,
        "AlignPropTrainer": _IMAGES,
        "DDPOConfig": _IMAGES,
        "DDPOPipelineOutput": _IMAGES,
        "DDPOSchedulerOutput": _IMAGES,
        "DDPOStableDiffusionPipeline": _IMAGES,
        "DDPOTrainer": _IMAGES,
        "DefaultDDPOStableDiffusionPipeline": _IMAGES,
        "IterativeSFTConfig": "SFTTrainer trains on a dataset of what was sampled.",
        "IterativeSFTTrainer": "SFTTrainer trains on a dataset of what was sampled.",
        "OptionalDependencyNotAvailable": _NOTHING,
    },
    "0.25.0": {"BestOfNSampler": "Sample several answers and keep the best."},
    "0.27.0": {"SUPPORTED_ARCHITECTURES": _NOTHING},
}

_MOVED = {
    "0.9.2": {
        "DpoScriptArguments": f"{_WRITTEN}.script_arguments.DPOScriptArguments",
        "SftScriptArguments": f"{_WRITTEN}.script_arguments.SFTScriptArguments",
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
    },
    "0.20.0": {
        "DataCollatorForCompletionOnlyLM": f"{_WRITTEN}.collators.DataCollatorForCompletionOnlyLM",
        "pack_examples": f"{_WRITTEN}.packing.pack_examples",
    },
    "0.24.0": {"is_diffusers_available": f"{_WRITTEN}.availability.is_diffusers_available"},
    "0.26.0": {"setup_chat_format": f"{_WRITTEN}.chat.setup_chat_format"},
    "0.27.0": {"is_vllm_available": "trl.import_utils.is_vllm_available"},
    "0.29.0": {
        "FDivergenceConstants": f"{_WRITTEN}.divergences.FDivergenceConstants",
        "FDivergenceType": f"{_WRITTEN}.divergences.FDivergenceType",
    },
    "1.0.0": {"truncate_dataset": "trl.experimental.utils.truncate_dataset"},
    "1.9.0": {"get_kbit_device_map": f"{_WRITTEN}.devices.get_kbit_device_map"},
    "1.16.0": {
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
                    source=_NOTES.format(release),
                )
        for release, gone in _GONE.items():
            for name, instead in gone.items():
                yield Gone(
                    name=f"{place}.{name}",
                    instead=instead,
                    gone=f"trl {release}",
                    source=_NOTES.format(release),
                )
        for folder, names in _EXPERIMENTAL.items():
            for name in names:
                yield from _experimental(f"{place}.{name}", folder)


def _experimental(name: str, folder: str) -> Iterator[Change]:
    source = _NOTES.format("0.29.0")
    to = f"trl.experimental.{folder}.{name.rpartition('.')[2]}"
    yield Moved(name=name, to=to, gone="trl 0.29.0", since="trl 0.26.0", source=source)
    if folder in _INSTEAD:
        yield Gone(name=name, instead=_INSTEAD[folder], gone="trl 0.29.0", source=source)


ROWS: tuple[Change, ...] = tuple(_rows())
