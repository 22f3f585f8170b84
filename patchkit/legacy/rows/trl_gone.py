"""Names of TRL that have no counterpart."""

from __future__ import annotations

from collections.abc import Iterable

from ..changes import Change, Form, Gone, Moved

_REWARDS = "TRL trains with rewards by GRPOTrainer and RLOOTrainer, which have no value head."
_VALUE_HEADS = Form(before="trl 0.12.0")
"""Later trainers take the model and its value head apart."""
_BOTH_PPO = (
    Form("trl 0.12.0", what="with value heads and step()"),
    Form("trl 0.29.0", what="with value_model= and train()"),
)
_DIFFUSION = "TRL trains no diffusion models any more."
_WITH_DIFFUSERS = (Form("trl 0.24.0", also="diffusers"),)
_JUDGES = "OnlineDPOTrainer, in trl.experimental.online_dpo, takes reward_funcs=: plain functions."
_UNPAIRED = "KTOTrainer learns from the same unpaired answers."
_PLAYED = "OnlineDPOTrainer, in trl.experimental.online_dpo, is the nearest."
_TOOLS = "GRPOTrainer(tools=) lets a model call functions."
_PACKING = 'SFTConfig(packing=True, packing_strategy="wrapped") packs in the nearest way.'
_HELPERS = "It was a helper of trainers that are gone."


def _gone(
    release: str, instead: str, *names: str, forms: tuple[Form, ...] = ()
) -> Iterable[Change]:
    """Return a row for each name, in each of its places."""
    for name in names:
        yield Gone(
            name=f"trl.{name}",
            instead=instead,
            forms=forms,
            gone=f"trl {release}",
        )


def _exported(*names: str) -> tuple[str, ...]:
    """Return the places of what TRL's top level and its package of trainers had."""
    return (*names, *(f"trainer.{name}" for name in names))


def _experimental(folder: str, *names: str) -> Iterable[Change]:
    """Return the rows of names that lived on below `trl.experimental` for a time."""
    for name in _exported(*names):
        yield Moved(
            name=f"trl.{name}",
            to=f"trl.experimental.{folder}.{name.rpartition('.')[2]}",
            gone="trl 0.29.0",
            since="trl 0.27.0",
        )


ROWS: tuple[Change, ...] = (
    *_gone("0.27.0", _HELPERS, "SUPPORTED_ARCHITECTURES"),
    *_gone("0.29.0", _REWARDS, *_exported("PPOTrainer", "PPOConfig"), forms=_BOTH_PPO),
    *_gone("0.29.0", _REWARDS, "trainer.ppo_trainer", "trainer.ppo_config", forms=_BOTH_PPO),
    *_gone(
        "0.29.0",
        _REWARDS,
        "AutoModelForCausalLMWithValueHead",
        "AutoModelForSeq2SeqLMWithValueHead",
        "PreTrainedModelWrapper",
        "models.AutoModelForCausalLMWithValueHead",
        "models.AutoModelForSeq2SeqLMWithValueHead",
        "models.PreTrainedModelWrapper",
        "models.modeling_value_head",
        "models.modeling_base.PreTrainedModelWrapper",
        "models.modeling_base.GeometricMixtureWrapper",
        forms=(_VALUE_HEADS,),
    ),
    *_gone("0.13.0", _REWARDS, "PPOv2Trainer", "PPOv2Config"),
    *_gone("0.13.0", _REWARDS, "trainer.ppov2_trainer", "trainer.ppov2_config"),
    *_gone("0.14.0", _REWARDS, "trainer.PPOv2Trainer", "trainer.PPOv2Config"),
    *_gone("0.14.0", _REWARDS, "trainer.AdaptiveKLController", "trainer.FixedKLController"),
    *_gone("0.14.0", _REWARDS, "trainer.base", "trainer.BaseTrainer"),
    *_gone(
        "0.14.0",
        _REWARDS,
        "trainer.utils.AdaptiveKLController",
        "trainer.utils.FixedKLController",
        "core.convert_to_scalar",
        "core.stats_to_np",
        "core.respond_to_batch",
        forms=(_VALUE_HEADS,),
    ),
    *_gone("0.11.0", _HELPERS, "core.add_suffix", "core.pad_to_size", "core.average_torch_dicts"),
    *_gone("0.24.0", _HELPERS, "core.PPODecorators", "core.randn_tensor"),
    *_gone("0.29.0", _UNPAIRED, *_exported("BCOTrainer", "BCOConfig")),
    *_gone("0.29.0", _UNPAIRED, "trainer.bco_trainer", "trainer.bco_config"),
    *_gone(
        "0.29.0",
        "No trainer of process rewards has taken its place.",
        *_exported("PRMTrainer", "PRMConfig"),
        "trainer.prm_trainer",
        "trainer.prm_config",
    ),
    *_gone(
        "0.29.0",
        _PLAYED,
        *_exported("XPOTrainer", "XPOConfig", "NashMDTrainer", "NashMDConfig"),
        "trainer.xpo_trainer",
        "trainer.xpo_config",
        "trainer.nash_md_trainer",
        "trainer.nash_md_config",
        "models.GeometricMixtureWrapper",
    ),
    *_gone(
        "0.29.0",
        _JUDGES,
        *_exported(
            "BaseJudge",
            "BaseRankJudge",
            "BasePairwiseJudge",
            "BaseBinaryJudge",
            "AllTrueJudge",
            "PairRMJudge",
            "HfPairwiseJudge",
            "OpenAIPairwiseJudge",
        ),
        "trainer.judges",
    ),
    *_gone("0.13.0", _JUDGES, *_exported("RandomRankJudge", "RandomPairwiseJudge")),
    *_gone(
        "0.29.0",
        "Compare the answers in a TrainerCallback of your own.",
        *_exported("WinRateCallback"),
        "trainer.callbacks.WinRateCallback",
    ),
    *_gone("0.21.0", _TOOLS, "TextEnvironment", "TextHistory", "environment"),
    *_gone(
        "0.24.0",
        _DIFFUSION,
        *_exported("DDPOTrainer", "DDPOConfig", "AlignPropTrainer", "AlignPropConfig"),
        "DDPOPipelineOutput",
        "DDPOSchedulerOutput",
        "DDPOStableDiffusionPipeline",
        "DefaultDDPOStableDiffusionPipeline",
        "models.DDPOPipelineOutput",
        "models.DDPOSchedulerOutput",
        "models.DDPOStableDiffusionPipeline",
        "models.DefaultDDPOStableDiffusionPipeline",
        "models.modeling_sd_base",
        "models.sd_utils",
        "models.auxiliary_modules",
        "trainer.ddpo_trainer",
        "trainer.ddpo_config",
        "trainer.alignprop_trainer",
        "trainer.alignprop_config",
        "trainer.utils.PerPromptStatTracker",
        forms=_WITH_DIFFUSERS,
    ),
    *_gone(
        "0.24.0",
        "SFTTrainer trains on a whole dataset; no trainer takes steps by hand.",
        *_exported("IterativeSFTTrainer", "IterativeSFTConfig"),
        "trainer.iterative_sft_trainer",
        "trainer.iterative_sft_config",
    ),
    *_gone(
        "0.25.0",
        "Generate with num_return_sequences= and keep the answer with the best reward.",
        "BestOfNSampler",
        "extras.BestOfNSampler",
        "extras.best_of_n_sampler",
    ),
    *_gone(
        "0.20.0",
        _PACKING,
        "trainer.ConstantLengthDataset",
        "trainer.sft_trainer.ConstantLengthDataset",
        "trainer.utils.ConstantLengthDataset",
    ),
    *_gone("0.29.0", _HELPERS, *(f"trainer{place}.RunningMoments" for place in ("", ".utils"))),
    *_gone("0.29.0", _HELPERS, "trainer.utils.get_global_statistics"),
    *_gone(
        "0.27.0",
        _HELPERS,
        *(
            f"trainer.utils.{name}"
            for name in (
                "OnPolicyConfig",
                "OnlineTrainerState",
                "batch_generation",
                "compute_accuracy",
                "exact_div",
                "forward",
                "generate",
                "print_rich_table",
                "truncate_response",
            )
        ),
    ),
    # Where the new place is there, it stands for a name above.
    *_experimental("ppo", "PPOTrainer", "PPOConfig"),
    *_experimental("bco", "BCOTrainer", "BCOConfig"),
    *_experimental("prm", "PRMTrainer", "PRMConfig"),
    *_experimental("xpo", "XPOTrainer", "XPOConfig"),
    *_experimental("nash_md", "NashMDTrainer", "NashMDConfig"),
    *_experimental("winrate_callback", "WinRateCallback"),
    *(
        Gone(
            name=f"trl.experimental.{folder}",
            instead=instead,
            gone=f"trl {release}",
        )
        for folder, release, instead in (
            ("ppo", "1.13.0", _REWARDS),
            ("bco", "1.14.0", _UNPAIRED),
            ("prm", "1.14.0", "No trainer of process rewards has taken its place."),
            ("xpo", "1.14.0", _PLAYED),
            ("nash_md", "1.14.0", _PLAYED),
            ("judges", "1.1.0", _JUDGES),
            ("winrate_callback", "1.1.0", "Compare the answers in a TrainerCallback of your own."),
            ("gfpo", "1.8.0", "GRPOTrainer is the nearest."),
            ("papo", "1.8.0", "GRPOTrainer is the nearest."),
            ("dppo", "1.9.0", "GRPOTrainer is the nearest."),
            ("gspo_token", "1.14.0", "GRPOTrainer is the nearest."),
            ("grpo_with_replay_buffer", "1.14.0", "GRPOTrainer is the nearest."),
            ("minillm", "1.15.0", "GKDTrainer, in trl.experimental.gkd, is the nearest."),
            ("ssd", "1.16.0", "No trainer has taken its place."),
        )
    ),
)
