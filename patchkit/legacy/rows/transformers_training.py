"""Keywords of `Trainer` and `TrainingArguments`, and of their kin in Transformers."""

from __future__ import annotations

from ..changes import Change, Convert, Drop, Environment, Keep, Rename, Value
from ..converting import conversions
from ..sources import notes, pull
from .many import keywords, only_false, only_none

_ARGUMENTS = ("transformers.TrainingArguments",)
_TOKENIZING = tuple(
    f"transformers.PreTrainedTokenizerBase.{method}" for method in ("__call__", "encode")
)
_SPEED = Drop("it changed how fast evaluation runs, not its results")

ROWS: tuple[Change, ...] = (
    *keywords(
        ("transformers.Trainer",),
        {"tokenizer": Rename("processing_class")},
        gone="transformers 5.0.0",
        since="transformers 4.46.0",
        source=pull("transformers", 32385),
    ),
    *keywords(
        _ARGUMENTS,
        {"xpu_backend": Rename("ddp_backend")},
        gone="transformers 4.32.0",
        since="transformers 4.30.0",
        source=notes("transformers 4.30.0"),
    ),
    *keywords(
        _ARGUMENTS,
        {"sharded_ddp": only_false("nothing was to be split", 'Say fsdp="full_shard".')},
        gone="transformers 4.35.0",
    ),
    *keywords(
        _ARGUMENTS,
        {"evaluation_strategy": Rename("eval_strategy")},
        gone="transformers 4.51.0",
        since="transformers 4.41.0",
        source=pull("transformers", 36946),
    ),
    *keywords(
        _ARGUMENTS,
        {
            "dispatch_batches": Convert("accelerator_config", conversions.dispatching),
            "split_batches": Convert("accelerator_config", conversions.splitting),
        },
        gone="transformers 4.51.0",
        since="transformers 4.38.0",
        source=pull("transformers", 36946),
    ),
    *keywords(
        _ARGUMENTS,
        {
            "tp_size": Drop(
                "one part is no split",
                unless=lambda size: size not in (None, 0, 1),
                instead='Load the model in parts: from_pretrained(…, tp_plan="auto").',
            )
        },
        gone="transformers 4.52.0",
    ),
    *keywords(
        _ARGUMENTS,
        {"use_ipex": Drop("it made training on Intel CPUs faster, and changed no results")},
        gone="transformers 4.57.0",
    ),
    *keywords(
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
            "ray_scope": Environment("RAY_SCOPE"),
            "use_mps_device": Drop("a Mac's GPU is used where there is one"),
            "overwrite_output_dir": Keep(
                "overwrite_output_dir", "leave it out: only scripts read it"
            ),
            "save_safetensors": Keep(
                "save_safetensors", "leave it out: models are always saved as safetensors"
            ),
            "use_legacy_prediction_loop": Drop("one loop is left, with the same results"),
            "jit_mode_eval": _SPEED,
            "fp16_opt_level": Drop("only Apex read it"),
            "half_precision_backend": Drop(
                "PyTorch does it",
                unless=lambda backend: backend == "apex",
                instead="Leave it out: PyTorch does it.",
            ),
            "fp16_backend": Drop(
                "PyTorch does it",
                unless=lambda backend: backend == "apex",
                instead="Leave it out: PyTorch does it.",
            ),
            "past_index": Drop(
                "no state was handed on",
                unless=lambda index: index >= 0,
                instead="Nothing hands a state on from batch to batch.",
            ),
            "mp_parameters": only_false("nothing was given", "SageMaker's library is gone."),
            "tpu_num_cores": Drop("only launchers read it"),
            "include_tokens_per_second": Drop(
                "it only reported a speed; include_num_input_tokens_seen=True counts tokens"
            ),
        },
        gone="transformers 5.0.0",
        since="transformers 4.46.0",
        source=pull("transformers", 41017),
    ),
    *keywords(
        _ARGUMENTS,
        {
            "no_cuda": Rename("use_cpu"),
            "push_to_hub_token": Rename("hub_token"),
            "torchdynamo": Rename("torch_compile_backend"),
        },
        gone="transformers 5.0.0",
        since="transformers 4.36.0",
        source=pull("transformers", 41017),
    ),
    *keywords(
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
    *keywords(
        _ARGUMENTS,
        {
            "warmup_ratio": Convert("warmup_steps", conversions.share_of_steps, written="{value}"),
            "logging_dir": Environment("TENSORBOARD_LOGGING_DIR"),
        },
        gone="transformers 5.15.0",
        since="transformers 5.0.0",
        source=pull("transformers", 46917),
    ),
    Value(
        owners=_ARGUMENTS,
        name="optim",
        value="adamw_hf",
        to="adamw_torch",
        gone="transformers 4.50.0",
        since="transformers 4.36.0",
    ),
    Value(
        owners=_ARGUMENTS,
        name="report_to",
        value=None,
        to="all",
        gone="transformers 5.0.0",
        since="transformers 4.36.0",
    ),
    *keywords(
        _TOKENIZING,
        {
            "pad_to_max_length": Convert("padding", conversions.padding_to_length),
            "truncation_strategy": Convert("truncation", conversions.truncating),
        },
        gone="transformers 4.52.0",
        since="transformers 4.36.0",
    ),
    *keywords(
        ("transformers.DataCollatorForLanguageModeling",),
        {"tf_experimental_compile": only_none("Transformers has no TensorFlow any more.")},
        gone="transformers 5.0.0",
    ),
)
