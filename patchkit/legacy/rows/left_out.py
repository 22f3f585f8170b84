"""What changed and has no row, on purpose."""

from __future__ import annotations

from collections.abc import Mapping

_POSITIONAL = "an argument that is given by position"
_PACKAGED = "an internal of one or two releases"
_SAME = "the new default means the same"
_NO_RESULT = "no result depends on it"
_UNREAD = "it is still taken, and read no more"
_OF_A_QUANTIZER = "the quantizer's own choice; a checkpoint says what it has"
_ANOTHER = "the trainer of that name was another before"
_PLACEHOLDER = "the signature shows a placeholder, not the value"
_OF_A_ROUTER = (
    "models without a router are refused with a value; the old default meant nothing to them"
)
_CONFIGURED = "None leaves it to `accelerate config`"

_NAMES = {
    "transformers.TFTrainer": "no set of versions was run that has it",
    "transformers.BaseImageProcessorFast": "it is still there, by way of an alias",
    "trl.SftArgumentParser": _PACKAGED,
    "trl.DpoArgumentParser": _PACKAGED,
    "trl.compute_token_accuracy": _PACKAGED,
}

_KEYWORDS = {
    "trl.prepare_multimodal_messages": {"num_images": "the images themselves take its place"},
    "trl.unpair_preference_dataset": dict.fromkeys(
        ("num_proc", "desc"), "the function took it for one of datasets"
    ),
    "transformers.AwqConfig": dict.fromkeys(
        ("do_fuse", "exllama_config", "fuse_max_seq_len", "modules_to_fuse"), _UNREAD
    ),
    "transformers.CompressedTensorsConfig": {"sparsity_config": _UNREAD},
    "transformers.GPTQConfig": dict.fromkeys(
        ("disable_exllama", "exllama_config", "use_cuda_fp16", "use_exllama"), _UNREAD
    ),
    "transformers.HqqConfig": dict.fromkeys(("offload_meta", "quant_scale", "quant_zero"), _UNREAD),
    "transformers.PreTrainedModel.from_pretrained": dict.fromkeys(
        ("_fast_init", "from_flax", "from_tf", "low_cpu_mem_usage", "mirror", "offload_state_dict"),
        _UNREAD,
    ),
    "transformers.TorchAoConfig": {"quant_type_kwargs": "it stood for any other keyword"},
    **{
        f"peft.{tuner}Model": {"config": _POSITIONAL}
        for tuner in (
            "BOFT",
            "C3A",
            "FourierFT",
            "IA3",
            "LNTuning",
            "LoHa",
            "LoKr",
            "Lora",
            "OFT",
            "Poly",
            "RandLora",
            "TrainableTokens",
            "VBLoRA",
            "Vera",
        )
    },
}

_ARGUMENTS = {
    "dataloader_prefetch_factor": _SAME,
    "fsdp": _SAME,
    "gradient_checkpointing": _SAME,
    "hub_private_repo": "None leaves it to the organization on the Hub",
    "include_num_input_tokens_seen": _SAME,
    "lr_scheduler_kwargs": _SAME,
    "trackio_space_id": _NO_RESULT,
}
_BALANCED = {"router_aux_loss_coef": _OF_A_ROUTER}
_SUPERVISED = {
    **_BALANCED,
    "dataset_text_field": "without it a formatting function was asked for",
    "loss_type": "the loss is the same, computed in parts or at once",
}

_DEFAULTS = {
    "trl.DPOConfig": {**_BALANCED, "f_divergence_type": _SAME, "loss_type": _SAME},
    "trl.GKDConfig": _SUPERVISED,
    "trl.GRPOConfig": {
        **_BALANCED,
        "scale_rewards": _SAME,
        "vllm_importance_sampling_cap": "a new keyword has the default that it had",
        "vllm_server_timeout": _NO_RESULT,
    },
    "trl.KTOConfig": _BALANCED,
    "trl.ModelConfig": {"dtype": "None loaded float32 with the Transformers of then"},
    "trl.OnlineDPOConfig": {"beta": _SAME, "top_k": _SAME},
    "trl.RLOOConfig": {
        **_BALANCED,
        "reward_clip_range": _ANOTHER,
        "temperature": _ANOTHER,
        "top_k": _SAME,
    },
    "trl.SFTConfig": _SUPERVISED,
    "trl.pack_dataset": {"strategy": "one release had another name for it"},
    "transformers.AwqConfig": {"backend": _OF_A_QUANTIZER},
    "transformers.CompressedTensorsConfig": {"run_compressed": _OF_A_QUANTIZER},
    "transformers.FPQuantConfig": dict.fromkeys(
        ("forward_dtype", "hadamard_group_size"), _OF_A_QUANTIZER
    ),
    "transformers.HqqConfig": {"axis": _OF_A_QUANTIZER},
    "transformers.Seq2SeqTrainingArguments": _ARGUMENTS,
    "transformers.TrainerState": {"epoch": _NO_RESULT},
    "transformers.TrainingArguments": _ARGUMENTS,
    "peft.BdLoraConfig": {"nblocks": _PLACEHOLDER},
    "peft.OSFConfig": {"init_weights": _SAME},
    "accelerate.Accelerator": {"split_batches": _PLACEHOLDER},
    "accelerate.FullyShardedDataParallelPlugin": {
        "activation_checkpointing": _SAME,
        "forward_prefetch": _SAME,
        "limit_all_gathers": _NO_RESULT,
        "sync_module_states": _CONFIGURED,
        "use_orig_params": _CONFIGURED,
    },
    "accelerate.InitProcessGroupKwargs": {"timeout": "None leaves it to PyTorch"},
}

LEFT_OUT: Mapping[str, str] = {
    **_NAMES,
    **{
        f"{owner}({name}=)": reason
        for owner, reasons in _KEYWORDS.items()
        for name, reason in reasons.items()
    },
    **{
        f"default of {owner}({name}=)": reason
        for owner, reasons in _DEFAULTS.items()
        for name, reason in reasons.items()
    },
}
"""What it is, as `python -m workbench releases` names it, and why it has no row."""
