"""Names and modules of Transformers that moved or went, as far as training scripts have them."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Gone, Moved

_WRITTEN = "patchkit.legacy.replacements"
_NO = f"{_WRITTEN}.availability.is_not_supported"
_YES = f"{_WRITTEN}.availability.is_always_supported"

_TPU = f"{_WRITTEN}.devices.is_torch_tpu_available"
_PYTORCH = "transformers.pytorch_utils"
_VISION = "transformers.AutoModelForImageTextToText"
_DEEPSPEED = "transformers.integrations.deepspeed"

_CHECKS = {
    "is_flax_available": _NO,
    "is_safetensors_available": f"{_WRITTEN}.availability.is_safetensors_available",
    "is_tf_available": _NO,
}
_CHECKS_BELOW = {
    "is_flash_attn_available": f"{_WRITTEN}.availability.is_flash_attn_available",
    "is_torch_bf16_available": "transformers.utils.is_torch_bf16_gpu_available",
    "is_torch_bf16_cpu_available": _YES,
    "is_torch_compile_available": _YES,
    "is_torch_fx_available": _YES,
    "is_torch_sdpa_available": _YES,
    "is_torchdynamo_available": _YES,
}

_PLACES_BELOW = (
    "transformers.file_utils",
    "transformers.utils",
    "transformers.utils.import_utils",
)

_MOVED = {
    "4.39.0": {
        "transformers.top_k_top_p_filtering": f"{_WRITTEN}.core.top_k_top_p_filtering",
    },
    "4.46.0": {"transformers.deepspeed": _DEEPSPEED},
    "4.49.0": {"transformers.LogitsWarper": "transformers.LogitsProcessor"},
    "4.50.0": {
        "transformers.AdamW": f"{_WRITTEN}.optimizer.AdamW",
        "transformers.optimization.AdamW": f"{_WRITTEN}.optimizer.AdamW",
    },
    "4.51.0": {"transformers.is_torch_tpu_available": _TPU},
    "5.0.0": {
        "transformers.AutoModelForVision2Seq": _VISION,
        "transformers.LineByLineTextDataset": f"{_WRITTEN}.text_datasets.LineByLineTextDataset",
        "transformers.MODEL_FOR_VISION_2_SEQ_MAPPING": (
            "transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING"
        ),
        "transformers.MistralCommonTokenizer": "transformers.MistralCommonBackend",
        "transformers.TextDataset": f"{_WRITTEN}.text_datasets.TextDataset",
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
        "transformers.trainer.ALL_LAYERNORM_LAYERS": f"{_PYTORCH}.ALL_LAYERNORM_LAYERS",
        "transformers.trainer.is_apex_available": "transformers.utils.is_apex_available",
        "transformers.file_utils.is_torch_tpu_available": _TPU,
        "transformers.trainer.is_torch_tpu_available": _TPU,
        "transformers.trainer_utils.EvaluationStrategy": "transformers.IntervalStrategy",
        "transformers.training_args.EvaluationStrategy": "transformers.IntervalStrategy",
        "transformers.utils.cached_property": "functools.cached_property",
        "transformers.utils.get_full_repo_name": f"{_WRITTEN}.hub.get_full_repo_name",
        "transformers.utils.is_offline_mode": "huggingface_hub.is_offline_mode",
        "transformers.utils.send_example_telemetry": (
            f"{_WRITTEN}.examples.send_example_telemetry"
        ),
    }
    | {
        f"{place}.{name}": to
        for place in ("transformers", *_PLACES_BELOW)
        for name, to in _CHECKS.items()
    }
    | {f"{place}.{name}": to for place in _PLACES_BELOW for name, to in _CHECKS_BELOW.items()},
    "5.1.0": {f"{place}.is_ipex_available": _NO for place in _PLACES_BELOW},
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
        "transformers.modeling_utils.find_pruneable_heads_and_indices": _OWN,
        "transformers.models.llama.modeling_llama.LlamaFlashAttention2": _ATTENTION,
        "transformers.models.llama.modeling_llama.LlamaSdpaAttention": _ATTENTION,
        "transformers.models.mistral.modeling_mistral.MistralFlashAttention2": _ATTENTION,
        "transformers.models.mistral.modeling_mistral.MistralSdpaAttention": _ATTENTION,
        "transformers.onnx": "The package optimum exports models to ONNX.",
    },
    "5.20.0": {"transformers.DataCollatorForWholeWordMask": _COLLATOR},
}


_CACHE = "huggingface_hub.constants.HF_HUB_CACHE"
_CACHES = ("PYTORCH_PRETRAINED_BERT_CACHE", "PYTORCH_TRANSFORMERS_CACHE", "TRANSFORMERS_CACHE")


def _rows() -> Iterator[Change]:
    for place in ("transformers", "transformers.utils", "transformers.file_utils"):
        for name in _CACHES:
            yield Moved(
                name=f"{place}.{name}",
                to=_CACHE,
                differs="the variable TRANSFORMERS_CACHE is not looked at",
                gone="transformers 5.0.0",
            )
    for release, moved in _MOVED.items():
        for name, to in moved.items():
            yield Moved(
                name=name,
                to=to,
                gone=f"transformers {release}",
            )
    for release, gone in _GONE.items():
        for name, instead in gone.items():
            yield Gone(
                name=name,
                instead=instead,
                gone=f"transformers {release}",
            )


ROWS: tuple[Change, ...] = tuple(_rows())
