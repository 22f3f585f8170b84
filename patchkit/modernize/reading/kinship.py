"""Which classes of the libraries derive from which, and of which class an object is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("parents.json")
"""Made by `python -m workbench parents` from released wheels."""
_MODEL = "transformers.PreTrainedModel"
_ADAPTED = (
    *("peft.AutoPeftModel", "peft.AutoPeftModelForCausalLM"),
    *("peft.AutoPeftModelForFeatureExtraction", "peft.AutoPeftModelForQuestionAnswering"),
    *("peft.AutoPeftModelForSeq2SeqLM", "peft.AutoPeftModelForSequenceClassification"),
    "peft.AutoPeftModelForTokenClassification",
)
_TAKING = {
    "datasets.load_dataset": ("datasets.DatasetBuilder",),
    "datasets.load_dataset_builder": ("datasets.DatasetBuilder",),
    "peft.prepare_model_for_int8_training": ("peft.prepare_model_for_kbit_training",),
    **dict.fromkeys(_ADAPTED, ("transformers._BaseAutoModelClass",)),
}
"""Functions and classes that take the keywords of others."""
OF_TWO_MODELS = {
    f"transformers.{name}Model": f"transformers.{name}Config"
    for name in ("EncoderDecoder", "SpeechEncoderDecoder", "VisionEncoderDecoder")
}
"""Models made of two others, and their configurations, which have no tokens of their own."""
_PUSHED = dict.fromkeys(
    (
        *("peft.PeftModel", "transformers.GenerationConfig", "transformers.Pipeline"),
        *("transformers.PreTrainedConfig", _MODEL),
        *("transformers.PreTrainedTokenizerBase", "transformers.ProcessorMixin"),
    ),
    ("transformers.PushToHubMixin",),
)
"""Classes with a base that has no public name, and is not in the file."""
_MADE = {
    **dict.fromkeys(_ADAPTED, "peft.PeftModel"),
    "transformers._BaseAutoModelClass": _MODEL,
    "transformers.AutoTokenizer": "transformers.PreTrainedTokenizerBase",
    "transformers.AutoProcessor": "transformers.ProcessorMixin",
    "transformers.AutoConfig": "transformers.PreTrainedConfig",
}
"""Classes that make objects of others."""
_RETURNED = {
    "datasets.load_dataset": "datasets.Dataset",
    "datasets.load_from_disk": "datasets.Dataset",
    "datasets.concatenate_datasets": "datasets.Dataset",
    "transformers.pipeline": "transformers.Pipeline",
    "peft.get_peft_model": "peft.PeftModel",
    "peft.prepare_model_for_kbit_training": _MODEL,
    "peft.prepare_model_for_int8_training": _MODEL,
}
_MAKERS = frozenset(
    {
        *("from_pretrained", "from_config", "from_dict", "from_list", "from_pandas"),
        *("from_encoder_decoder_pretrained", "from_vision_text_pretrained"),
    }
)


@cache
def ancestors(*names: str) -> tuple[str, ...]:
    """Return the public names of classes and of those that they derive from, the nearest first.

    Args:
        names: classes, with dots, wherever their libraries have them.
    """
    found: dict[str, None] = {}
    for name in names:
        public = f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"
        parents = _parents().get(public, (_MODEL,) if _is_abstract(public) else ())
        found |= dict.fromkeys((public, *ancestors(*parents)))
    return tuple(found)


def _is_abstract(name: str) -> bool:
    """Tell whether a class is what all models of one kind derive from."""
    return name.startswith("transformers.") and name.endswith("PreTrainedModel") and name != _MODEL


@cache
def _parents() -> Mapping[str, tuple[str, ...]]:
    """Return the classes that each class derives from, as the file has them, and functions."""
    content: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    found = {
        f"{library}.{name}": tuple(parents.split())
        for library, groups in content.items()
        for parents, names in groups.items()
        for name in names.split()
    }
    of_two = dict.fromkeys(OF_TWO_MODELS.values(), ("transformers.PreTrainedConfig",))
    return {**_PUSHED, **of_two, **found, **_TAKING}


@cache
def packages() -> frozenset[str]:
    """Return the libraries whose classes are known."""
    return frozenset(name.partition(".")[0] for name in _parents())


def made_by(name: str, method: str) -> str:
    """Return the class of what a call returns; empty if that is not known.

    Args:
        name: a class or function, with dots.
        method: the method of the class, `__init__`, or nothing for a function.
    """
    known = ancestors(name)
    if not method:
        return _RETURNED.get(known[0], "")
    if method == "__init__":
        return name
    if method in _MAKERS:
        return next((_MADE[base] for base in known if base in _MADE), name)
    return ""


def is_class(name: str) -> bool:
    """Tell whether a dotted name is that of a class, by its spelling."""
    last = name.rpartition(".")[2].lstrip("_")
    return last[:1].isupper()
