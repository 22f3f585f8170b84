"""Keywords of TRL's trainers that generate: GRPO, RLOO, online DPO."""

from __future__ import annotations

from ..changes import Change, Convert, Drop, Refuse, Rename
from ..converting.conversions import liger_kernel, picked_by_vllm, steps_of_episodes
from ..sources import notes
from .many import keywords, only_false, only_none

_GRPO = ("trl.GRPOConfig",)
_RLOO = ("trl.RLOOConfig",)
_BOTH = ("trl.GRPOConfig", "trl.RLOOConfig")
_ONLINE = ("trl.OnlineDPOConfig",)
_ONLINE_TRAINER = ("trl.OnlineDPOTrainer",)
_MIGRATION = (
    "https://huggingface.co/docs/trl/en/rloo_trainer"
    "#migration-guide-from-the-old-implementation-021-and-below"
)
_OLD_RLOO = Refuse(
    "RLOOTrainer takes model=, reward_funcs= and args= today, and works as GRPOTrainer does: see "
    f"{_MIGRATION}."
)
_COMPUTED = Drop("it was worked out from other values")
_SCRIPTS = Drop("only example scripts read it")
_JUDGE = only_none("A function takes the place of a judge: reward_funcs=…")
_NO_STOP = only_none("Texts end with the end-of-sequence token of the tokenizer.")


ROWS: tuple[Change, ...] = (
    *keywords(
        _GRPO,
        {
            "vllm_device": Convert("", picked_by_vllm("vllm_device")),
            "vllm_dtype": Convert("", picked_by_vllm("vllm_dtype")),
            "vllm_enable_prefix_caching": Drop("it only made vLLM faster"),
        },
        gone="trl 0.18.0",
        source=notes("trl 0.16.0"),
    ),
    *keywords(
        _GRPO,
        {"vllm_max_model_len": Rename("vllm_max_model_length")},
        gone="trl 0.18.0",
        since="trl 0.26.0",
        source=notes("trl 0.26.0"),
    ),
    *keywords(
        _BOTH,
        {"wandb_log_unique_prompts": Rename("log_unique_prompts")},
        gone="trl 0.27.0",
        since="trl 0.26.0",
        source=notes("trl 0.26.0"),
    ),
    *keywords(
        _BOTH,
        {"vllm_guided_decoding_regex": Rename("vllm_structured_outputs_regex")},
        gone="trl 0.28.0",
        since="trl 0.27.0",
        source=notes("trl 0.27.0"),
    ),
    *keywords(
        _GRPO,
        {"use_liger_loss": Convert("use_liger_kernel", liger_kernel, written="{value}")},
        gone="trl 0.28.0",
        since="trl 0.25.0",
    ),
    *keywords(
        ("trl.RLOOTrainer", "trl.OnlineDPOTrainer"),
        {"tokenizer": Rename("processing_class")},
        gone="trl 0.12.0",
        since="trl 0.12.0",
    ),
    *keywords(
        ("trl.RLOOTrainer",),
        dict.fromkeys(("config", "policy", "ref_policy", "reward_model"), _OLD_RLOO),
        gone="trl 0.25.0",
        source=_MIGRATION,
    ),
    *keywords(
        ("trl.RLOOTrainer",),
        {"data_collator": only_none("RLOOTrainer makes its batches itself.")},
        gone="trl 0.25.0",
        source=_MIGRATION,
    ),
    *keywords(
        _RLOO,
        {
            "rloo_k": Rename("num_generations"),
            "cliprange": Rename("epsilon"),
            "kl_coef": Rename("beta"),
            "exp_name": Rename("run_name"),
            "normalize_reward": Rename("normalize_advantages"),
            "num_ppo_epochs": Rename("num_iterations"),
            "num_mini_batches": Rename("steps_per_generation"),
            "response_length": Rename("max_completion_length"),
            "total_episodes": Convert("max_steps", steps_of_episodes),
            "token_level_kl": only_false(
                "the KL divergence is that of whole texts", "KL is that of whole texts today."
            ),
            "dataset_num_proc": Drop("nothing used it"),
            "local_rollout_forward_batch_size": Drop(
                "per_device_train_batch_size says how much is computed at once"
            ),
            "num_sample_generations": Drop("logging_steps says how often texts are logged"),
            "stop_token": _NO_STOP,
            "stop_token_id": _NO_STOP,
            "missing_eos_penalty": only_none("Punish a missing end in a function: reward_funcs=…"),
        },
        gone="trl 0.25.0",
        since="trl 0.22.0",
        source=_MIGRATION,
    ),
    *keywords(
        _RLOO,
        {
            **dict.fromkeys(
                (
                    "world_size",
                    "num_total_batches",
                    "micro_batch_size",
                    "local_batch_size",
                    "batch_size",
                    "local_mini_batch_size",
                    "mini_batch_size",
                ),
                _COMPUTED,
            ),
            "sft_model_path": _SCRIPTS,
            "reward_model_path": _SCRIPTS,
            "whiten_rewards": only_false(
                "rewards are left as they are", "Say normalize_advantages=True, or leave it out."
            ),
            "normalize_advantage": Rename("normalize_advantages"),
        },
        gone="trl 0.22.0",
        since="trl 0.22.0",
        source=_MIGRATION,
    ),
    *keywords(
        _ONLINE_TRAINER,
        {"model_init": only_none("Pass the model: model=…, which is what the function returned.")},
        gone="trl 0.11.0",
    ),
    *keywords(
        _ONLINE_TRAINER,
        {
            "reward_model": Rename("reward_funcs"),
            "reward_processing_class": Rename("reward_processing_classes"),
        },
        gone="trl 0.25.0",
        since="trl 0.23.0",
        source=notes("trl 0.23.0"),
    ),
    *keywords(
        ("trl.OnlineDPOTrainer", "trl.OnlineDPOConfig"),
        {"judge": _JUDGE},
        gone="trl 1.1.0",
    ),
    *keywords(
        _ONLINE,
        {"gpu_memory_utilization": Rename("vllm_gpu_memory_utilization")},
        gone="trl 0.25.0",
        since="trl 0.23.0",
        source=notes("trl 0.23.0"),
    ),
    *keywords(
        _ONLINE,
        {"dataset_num_proc": Drop("nothing used it")},
        gone="trl 0.25.0",
    ),
    *keywords(
        _ONLINE,
        {"vllm_guided_decoding_regex": Rename("vllm_structured_outputs_regex")},
        gone="trl 0.27.0",
        since="trl 0.27.0",
    ),
    *keywords(
        _ONLINE,
        {"use_transformers_paged": Drop("it only changed how texts are generated, not which")},
        gone="trl 1.2.0",
    ),
)
