"""Settings that nobody gives: fields of configurations, and defaults in signatures."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from . import tiny

TRAINERS = ("SFT", "DPO", "KTO", "Reward", "GRPO", "RLOO")
ADAPTERS = (
    "Lora",
    "AdaLora",
    "IA3",
    "LoHa",
    "LoKr",
    "PromptTuning",
    "PrefixTuning",
    "PromptEncoder",
)
MODELS = (
    "Llama",
    "Mistral",
    "Qwen2",
    "GPT2",
    "GPTNeoX",
    "OPT",
    "Bert",
    "Roberta",
    "T5",
    "Bart",
    "Whisper",
    "ViT",
)
FUNCTIONS = (
    "transformers.AutoModelForCausalLM.from_pretrained",
    "transformers.PreTrainedModel.from_pretrained",
    "transformers.PreTrainedModel.save_pretrained",
    "transformers.PreTrainedModel.resize_token_embeddings",
    "transformers.PreTrainedModel.gradient_checkpointing_enable",
    "transformers.GenerationMixin.generate",
    "transformers.PreTrainedTokenizerBase.__init__",
    "transformers.PreTrainedTokenizerBase.__call__",
    "transformers.PreTrainedTokenizerBase.encode",
    "transformers.PreTrainedTokenizerBase.decode",
    "transformers.PreTrainedTokenizerBase.batch_decode",
    "transformers.PreTrainedTokenizerBase.pad",
    "transformers.PreTrainedTokenizerBase.apply_chat_template",
    "transformers.PreTrainedTokenizerBase.add_special_tokens",
    "transformers.Trainer.__init__",
    "transformers.Trainer.train",
    "transformers.Trainer.evaluate",
    "transformers.Trainer.predict",
    "transformers.Seq2SeqTrainer.evaluate",
    "transformers.DataCollatorForLanguageModeling",
    "transformers.DataCollatorForSeq2Seq",
    "transformers.DataCollatorWithPadding",
    "transformers.DataCollatorForTokenClassification",
    "transformers.EarlyStoppingCallback",
    "transformers.TextStreamer",
    "transformers.get_scheduler",
    "transformers.get_cosine_schedule_with_warmup",
    "transformers.set_seed",
    "transformers.pipeline",
    "peft.get_peft_model",
    "peft.PeftModel.from_pretrained",
    "peft.PeftModel.save_pretrained",
    "peft.LoraModel.merge_and_unload",
    "peft.prepare_model_for_kbit_training",
    "accelerate.Accelerator",
    "accelerate.Accelerator.clip_grad_norm_",
    "accelerate.load_checkpoint_and_dispatch",
    "accelerate.infer_auto_device_map",
    "accelerate.notebook_launcher",
    "datasets.load_dataset",
    "datasets.Dataset.map",
    "datasets.Dataset.filter",
    "datasets.Dataset.shuffle",
    "datasets.Dataset.train_test_split",
    "datasets.Dataset.to_json",
    "datasets.Dataset.save_to_disk",
    "huggingface_hub.hf_hub_download",
    "huggingface_hub.snapshot_download",
    "huggingface_hub.HfApi.upload_folder",
    "trl.SFTTrainer.__init__",
    "trl.DPOTrainer.__init__",
    "trl.KTOTrainer.__init__",
    "trl.RewardTrainer.__init__",
    "trl.GRPOTrainer.__init__",
)
NOT_GIVEN = ("", None)


def training_arguments() -> Iterator[tuple[str, Any]]:
    import transformers

    for name in ("TrainingArguments", "Seq2SeqTrainingArguments"):
        cls = getattr(transformers, name)
        made = cls(**tiny.given(cls, output_dir="out", use_cpu__or__no_cuda=True, report_to=[]))
        yield name, _fields(made)
        yield f"{name}.to_dict", sorted(_fields(made).keys() - made.to_dict().keys())


def trainers() -> Iterator[tuple[str, Any]]:
    import trl

    for name in TRAINERS:
        if (cls := getattr(trl, f"{name}Config", None)) is not None:
            choices = {"output_dir": "out", "use_cpu__or__no_cuda": True, "report_to": []}
            yield name, _fields(cls(**tiny.given(cls, **choices)))
    if hasattr(trl, "ModelConfig"):
        yield "Model", _fields(trl.ModelConfig())


def adapters() -> Iterator[tuple[str, Any]]:
    import peft

    for name in ADAPTERS:
        cls = getattr(peft, f"{name}Config")
        yield name, _fields(cls(**tiny.given(cls, total_step=10)))


def quantization() -> Iterator[tuple[str, Any]]:
    import transformers

    for choices in ({}, {"load_in_4bit": True}, {"load_in_8bit": True}):
        made = transformers.BitsAndBytesConfig(**choices)
        yield f"{sorted(choices)}", {name: str(value) for name, value in made.to_dict().items()}


def generation() -> Iterator[tuple[str, Any]]:
    import transformers

    made = transformers.GenerationConfig()
    names = "max_length max_new_tokens min_length do_sample early_stopping num_beams use_cache temperature top_k top_p"
    more = (
        "repetition_penalty length_penalty no_repeat_ngram_size num_return_sequences output_scores"
    )
    more += " return_dict_in_generate output_attentions num_beam_groups cache_implementation"
    for name in f"{names} {more}".split():
        yield name, tiny.read(made, name)


def models() -> Iterator[tuple[str, Any]]:
    import transformers

    for name in MODELS:
        made = getattr(transformers, f"{name}Config")()
        found = {key: value for key, value in made.to_dict().items() if not _is_version(key)}
        yield name, found
        for attribute in [
            "use_return_dict",
            "is_encoder_decoder",
            "problem_type",
            "num_labels",
            "torch_dtype",
        ]:
            yield f"{name}.{attribute}", tiny.read(made, attribute)


def _parameters() -> Iterator[tuple[str, list[inspect.Parameter]]]:
    """Yield each function that there is, and its parameters."""
    for path in FUNCTIONS:
        library, *names = path.split(".")
        found: Any = importlib.import_module(library)
        for name in names:
            found = getattr(found, name, None)
        if found is not None:
            yield path, list(inspect.signature(found).parameters.values())


def signatures() -> Iterator[tuple[str, Any]]:
    for path, parameters in _parameters():
        for parameter in parameters:
            if parameter.default is not parameter.empty:
                yield f"{path}({parameter.name})", parameter.default


def positions() -> Iterator[tuple[str, Any]]:
    """The order of what may be given by position."""
    for path, parameters in _parameters():
        ordered = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        for number, name in enumerate(ordered[:8]):
            yield f"{path}[{number}]", name


def _fields(made: Any) -> dict[str, Any]:
    return {
        field.name: getattr(made, field.name)
        for field in dataclasses.fields(made)
        if field.init
        and not _is_version(field.name)
        and field.name not in ("logging_dir", "run_name")
    }


def _is_version(name: str) -> bool:
    return name in ("transformers_version", "peft_version", "auto_mapping")
