"""Tasks: the classes of Transformers that load models for them, and the model types of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Task:
    """What models are trained for.

    Args:
        title: in a page.
        mapping: the mapping of Transformers that lists its types, without the ends of its name.
        loader: the class that loads its models.
        peft: its name for PEFT; empty if PEFT needs none.
        generates: whether its models generate.
        labelled: whether its labels are parts of what is computed without a loss, too.
        fixed: attributes that its configurations have.
        logits: the field of an output that is compared.
        heads: names of the head that is trained itself beside adapters, where PEFT's `all-linear`
            would put adapters on it, too.
        saving: arguments of `save_pretrained` of a model with adapters.
        trainer: the short name of TRL's trainer; empty for Transformers' own.
        types: the only types that are tried; all for none.
    """

    title: str
    mapping: str
    loader: str
    peft: str = ""
    generates: bool = False
    labelled: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    logits: str = "logits"
    heads: tuple[str, ...] = ()
    saving: Mapping[str, Any] = field(default_factory=dict)
    trainer: str = ""
    types: tuple[str, ...] = ()


_TWO = {"num_labels": 2}
_MOST_USED = (
    "llama mistral mixtral qwen2 qwen3 qwen3_moe gemma2 gemma3_text phi phi3 gpt2 gpt_neox gpt_oss "
    "opt bloom falcon deepseek_v3 olmo2 granite smollm3"
)
"""The most used decoders, chosen by hand so that each kind of layers is among them: experts, biased
and tied heads, ALiBi, latent attention."""
TASKS = {
    "causal": Task(
        "Causal language models", "CAUSAL_LM", "AutoModelForCausalLM", "CAUSAL_LM", generates=True
    ),
    "seq2seq": Task(
        "Sequence-to-sequence models",
        "SEQ_TO_SEQ_CAUSAL_LM",
        "AutoModelForSeq2SeqLM",
        "SEQ_2_SEQ_LM",
        generates=True,
        labelled=True,
    ),
    "classification": Task(
        "Sequence classification",
        "SEQUENCE_CLASSIFICATION",
        "AutoModelForSequenceClassification",
        "SEQ_CLS",
        fixed=_TWO,
    ),
    "vision": Task(
        "Vision-language models",
        "IMAGE_TEXT_TO_TEXT",
        "AutoModelForImageTextToText",
        "CAUSAL_LM",
        generates=True,
    ),
    "speech": Task(
        "Speech to text",
        "SPEECH_SEQ_2_SEQ",
        "AutoModelForSpeechSeq2Seq",
        generates=True,
        labelled=True,
    ),
    "ctc": Task(
        "Speech, frame by frame (CTC)",
        "CTC",
        "AutoModelForCTC",
        heads=("lm_head", "ctc_head"),
        saving={"save_embedding_layers": False},
    ),
    "tokens": Task(
        "Token classification",
        "TOKEN_CLASSIFICATION",
        "AutoModelForTokenClassification",
        "TOKEN_CLS",
        fixed=_TWO,
        heads=("classifier", "score"),
    ),
    "questions": Task(
        "Question answering",
        "QUESTION_ANSWERING",
        "AutoModelForQuestionAnswering",
        "QUESTION_ANS",
        fixed=_TWO,
        logits="start_logits",
        heads=("qa_outputs",),
    ),
    "masked": Task(
        "Masked language models", "MASKED_LM", "AutoModelForMaskedLM", fixed={"is_decoder": False}
    ),
    "images": Task(
        "Image classification",
        "IMAGE_CLASSIFICATION",
        "AutoModelForImageClassification",
        fixed=_TWO,
        heads=("classifier", "head", "fc"),
    ),
    "reward": Task(
        "Reward models (TRL's `RewardTrainer`)",
        "SEQUENCE_CLASSIFICATION",
        "AutoModelForSequenceClassification",
        "SEQ_CLS",
        fixed={"num_labels": 1},
        trainer="reward",
        types=tuple(_MOST_USED.split()),
    ),
    "dpo": Task(
        "Preferences (TRL's `DPOTrainer`)",
        "CAUSAL_LM",
        "AutoModelForCausalLM",
        "CAUSAL_LM",
        generates=True,
        trainer="dpo",
        types=tuple(_MOST_USED.split()),
    ),
    "audio": Task(
        "Audio classification",
        "AUDIO_CLASSIFICATION",
        "AutoModelForAudioClassification",
        fixed=_TWO,
        heads=("classifier", "dense"),
    ),
    "video": Task(
        "Video classification",
        "VIDEO_CLASSIFICATION",
        "AutoModelForVideoClassification",
        fixed=_TWO,
        heads=("classifier",),
    ),
    "choice": Task(
        "Multiple choice",
        "MULTIPLE_CHOICE",
        "AutoModelForMultipleChoice",
        heads=("classifier", "logits_proj"),
    ),
    "sentences": Task(
        "Next sentence prediction", "NEXT_SENTENCE_PREDICTION", "AutoModelForNextSentencePrediction"
    ),
    "pairs": Task(
        "Images and texts in pairs",
        "ZERO_SHOT_IMAGE_CLASSIFICATION",
        "AutoModelForZeroShotImageClassification",
        logits="logits_per_image",
    ),
    "segmentation": Task(
        "Semantic segmentation",
        "SEMANTIC_SEGMENTATION",
        "AutoModelForSemanticSegmentation",
        fixed=_TWO,
    ),
    "segments": Task(
        "Segmentation by queries",
        "UNIVERSAL_SEGMENTATION",
        "AutoModelForUniversalSegmentation",
        fixed=_TWO,
        logits="class_queries_logits",
    ),
    "detection": Task(
        "Object detection", "OBJECT_DETECTION", "AutoModelForObjectDetection", fixed=_TWO
    ),
    "pictures": Task(
        "Masked images",
        "MASKED_IMAGE_MODELING",
        "AutoModelForMaskedImageModeling",
        logits="reconstruction",
    ),
}


def names_by_task() -> dict[str, list[str]]:
    """Return the names of all model types by task; a task that this release lacks has none."""
    from transformers.models.auto import modeling_auto

    return {
        name: sorted(
            known
            for known in getattr(modeling_auto, f"MODEL_FOR_{task.mapping}_MAPPING_NAMES", {})
            if not task.types or known in task.types
        )
        for name, task in TASKS.items()
    }


def loader(task: str) -> Any:
    """Return the class that loads models for a task."""
    import transformers

    return getattr(transformers, TASKS[task].loader)


def pretrained(task: str, folder: Path, **options: Any) -> Any:
    """Load a checkpoint with the class for a task, or with its own.

    Some classes for a task take a configuration apart and save that of the part, which they do not
    load again.
    """
    import transformers

    cls = loader(task)
    config = transformers.AutoConfig.from_pretrained(folder)
    if type(config) not in cls._model_mapping and config.architectures:
        cls = getattr(transformers, config.architectures[0])
    return cls.from_pretrained(folder, **options)
