"""Names and modules of Transformers that moved or went, as far as training scripts have them."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Gone, Moved

_NOTES = "https://github.com/huggingface/transformers/releases/tag/v{}"
_WRITTEN = "patchkit.legacy.written"
_NO = f"{_WRITTEN}.availability.is_not_supported"
_YES = f"{_WRITTEN}.availability.is_always_supported"

_TPU = f"{_WRITTEN}.devices.is_torch_tpu_available"
_PYTORCH = "transformers.pytorch_utils"
_VISION = "transformers.AutoModelForImageTextToText"
_DEEPSPEED = "transformers.integrations.deepspeed"

_CHECKS = {
    "is_flash_attn_available": f"{_WRITTEN}.availability.is_flash_attn_available",
    "is_flax_available": _NO,
    "is_ipex_available": _NO,
    "is_safetensors_available": f"{_WRITTEN}.availability.is_safetensors_available",
    "is_tf_available": _NO,
    "is_torch_bf16_available": "transformers.utils.is_torch_bf16_gpu_available",
    "is_torch_bf16_cpu_available": _YES,
    "is_torch_compile_available": _YES,
    "is_torch_fx_available": _YES,
    "is_torch_sdpa_available": _YES,
    "is_torchdynamo_available": _YES,
}

_MOVED = {
    "4.47.0": {"transformers.trainer_utils.EvaluationStrategy": "transformers.IntervalStrategy"}
    | {
        "transformers.EvaluationStrategy": "transformers.IntervalStrategy",
        "transformers.training_args.EvaluationStrategy": "transformers.IntervalStrategy",
    },
    "4.50.0": {
        "transformers.AdamW": f"{_WRITTEN}.optimizer.AdamW",
        "transformers.optimization.AdamW": f"{_WRITTEN}.optimizer.AdamW",
    },
    "5.0.0": {
        "transformers.AutoModelForVision2Seq": _VISION,
        "transformers.LineByLineTextDataset": f"{_WRITTEN}.text_datasets.LineByLineTextDataset",
        "transformers.LogitsWarper": "transformers.LogitsProcessor",
        "transformers.TextDataset": f"{_WRITTEN}.text_datasets.TextDataset",
        "transformers.deepspeed": _DEEPSPEED,
        "transformers.generation.LogitsWarper": "transformers.LogitsProcessor",
        "transformers.generation.logits_process.LogitsWarper": "transformers.LogitsProcessor",
        "transformers.modeling_utils.Conv1D": f"{_PYTORCH}.Conv1D",
        "transformers.modeling_utils.apply_chunking_to_forward": (
            f"{_PYTORCH}.apply_chunking_to_forward"
        ),
        "transformers.models.auto.modeling_auto.AutoModelForVision2Seq": _VISION,
        "transformers.models.llama.tokenization_llama_fast.LlamaTokenizerFast": (
            "transformers.LlamaTokenizerFast"
        ),
        "transformers.optimization.require_version": "transformers.utils.versions.require_version",
        "transformers.tokenization_utils.PreTrainedTokenizerBase": (
            "transformers.PreTrainedTokenizerBase"
        ),
        "transformers.top_k_top_p_filtering": f"{_WRITTEN}.core.top_k_top_p_filtering",
        "transformers.trainer.ALL_LAYERNORM_LAYERS": f"{_PYTORCH}.ALL_LAYERNORM_LAYERS",
        "transformers.trainer.is_apex_available": "transformers.utils.is_apex_available",
        "transformers.is_torch_tpu_available": _TPU,
        "transformers.file_utils.is_torch_tpu_available": _TPU,
        "transformers.trainer.is_torch_tpu_available": _TPU,
        "transformers.utils.cached_property": "functools.cached_property",
        "transformers.utils.is_offline_mode": "huggingface_hub.is_offline_mode",
        "transformers.utils.send_example_telemetry": (
            f"{_WRITTEN}.examples.send_example_telemetry"
        ),
    }
    | {
        f"{place}.{name}": to
        for place in (
            "transformers",
            "transformers.file_utils",
            "transformers.utils",
            "transformers.utils.import_utils",
        )
        for name, to in _CHECKS.items()
    },
}

_COLLATOR = "DataCollatorForLanguageModeling(whole_word_mask=True) takes its place."
_ATTENTION = "from_pretrained(attn_implementation=…) chooses the attention; patch LlamaAttention."
_OWN = "Nothing in Transformers takes its place."

_GONE = {
    "5.0.0": {
        "transformers.AutoModelWithLMHead": (
            "AutoModelForCausalLM, AutoModelForMaskedLM or AutoModelForSeq2SeqLM takes its place, "
            "by the kind of model."
        ),
        "transformers.DataCollatorForSOP": _OWN,
        "transformers.DataCollatorForWholeWordMask": _COLLATOR,
        "transformers.HfAgent": "The package smolagents takes its place.",
        "transformers.Tool": "The package smolagents takes its place.",
        "transformers.agents": "The package smolagents takes its place.",
        "transformers.modeling_utils.find_pruneable_heads_and_indices": _OWN,
        "transformers.models.llama.modeling_llama.LlamaFlashAttention2": _ATTENTION,
        "transformers.models.llama.modeling_llama.LlamaSdpaAttention": _ATTENTION,
        "transformers.models.mistral.modeling_mistral.MistralFlashAttention2": _ATTENTION,
        "transformers.models.mistral.modeling_mistral.MistralSdpaAttention": _ATTENTION,
        "transformers.onnx": "The package optimum exports models to ONNX.",
        "transformers.tools": "The package smolagents takes its place.",
    }
    | {
        f"transformers.{name}": "Models are PyTorch's alone; leave TF out of the name."
        for name in (
            "TFAutoModel",
            "TFAutoModelForCausalLM",
            "TFAutoModelForMaskedLM",
            "TFAutoModelForQuestionAnswering",
            "TFAutoModelForSeq2SeqLM",
            "TFAutoModelForSequenceClassification",
            "TFAutoModelForTokenClassification",
            "TFTrainer",
            "TFTrainingArguments",
        )
    },
}


def _rows() -> Iterator[Change]:
    for release, moved in _MOVED.items():
        for name, to in moved.items():
            yield Moved(
                name=name, to=to, gone=f"transformers {release}", source=_NOTES.format(release)
            )
    for release, gone in _GONE.items():
        for name, instead in gone.items():
            yield Gone(
                name=name,
                instead=instead,
                gone=f"transformers {release}",
                source=_NOTES.format(release),
            )


ROWS: tuple[Change, ...] = tuple(_rows())
