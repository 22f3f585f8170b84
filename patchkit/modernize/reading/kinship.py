"""Which classes of the libraries derive from which, as far as rows of the table need that."""

from __future__ import annotations

import re
from functools import cache

_ARGUMENTS = "transformers.TrainingArguments"
_TRAINER = "transformers.Trainer"
_PARENTS = {
    "transformers.GenerationMixin": "transformers.PreTrainedModel",  # so in models that have both
    "transformers.Seq2SeqTrainer": _TRAINER,
    "transformers.Seq2SeqTrainingArguments": _ARGUMENTS,
    "trl.GKDConfig": "trl.SFTConfig",
    "trl.GKDTrainer": "trl.SFTTrainer",
    "trl.NashMDConfig": "trl.OnlineDPOConfig",
    "trl.NashMDTrainer": "trl.OnlineDPOTrainer",
    "trl.TrlParser": "trl.HfArgumentParser",
    "trl.XPOConfig": "trl.OnlineDPOConfig",
    "trl.XPOTrainer": "trl.OnlineDPOTrainer",
    "datasets.load_dataset": "datasets.DatasetBuilder",
    "datasets.load_dataset_builder": "datasets.DatasetBuilder",
}
_PATTERNS = tuple(
    (re.compile(pattern), parent)
    for pattern, parent in (
        (r"trl\.\w+Trainer", _TRAINER),
        (r"trl\.(?!Model|DatasetMixture|DDPO|AlignProp|Judge)\w+Config", _ARGUMENTS),
        (r"(trl|transformers)\.\w+Callback", "transformers.TrainerCallback"),
        (r"transformers\.Auto(Model|ModelFor\w+)", "transformers._BaseAutoModelClass"),
        (
            r"transformers\.(?!Auto)\w+Tokenizer(Fast|Base)?",
            "transformers.PreTrainedTokenizerBase",
        ),
        (
            r"transformers\.(?!Auto|BitsAndBytes|Generation)\w+Config",
            "transformers.PreTrainedConfig",
        ),
        (
            r"transformers\.(?!Auto|Image|Video|Feature|Logits)\w+(?<!Image|Video)(?<!Logits)Processor",
            "transformers.ProcessorMixin",
        ),
        (
            r"transformers\.(?!Auto|TF|Flax)\w+(LMHeadModel|ForCausalLM|ForConditionalGeneration)",
            "transformers.GenerationMixin",
        ),
        (
            r"transformers\.(?!Auto|DataCollator|TF|Flax)\w+(Model|For[A-Z]\w+)",
            "transformers.PreTrainedModel",
        ),
    )
)
_MADE = {
    "transformers._BaseAutoModelClass": "transformers.PreTrainedModel",
    "transformers.AutoTokenizer": "transformers.PreTrainedTokenizerBase",
    "transformers.AutoProcessor": "transformers.ProcessorMixin",
    "transformers.AutoConfig": "transformers.PreTrainedConfig",
}
"""Classes that make objects of others."""
_RETURNED = {
    "datasets.load_dataset": "datasets.Dataset",
    "datasets.load_from_disk": "datasets.Dataset",
    "datasets.concatenate_datasets": "datasets.Dataset",
    "peft.get_peft_model": "peft.PeftModel",
    "peft.prepare_model_for_kbit_training": "transformers.PreTrainedModel",
    "peft.prepare_model_for_int8_training": "transformers.PreTrainedModel",
}
_MAKERS = frozenset({"from_pretrained", "from_config", "from_dict", "from_list", "from_pandas"})


@cache
def ancestors(name: str) -> tuple[str, ...]:
    """Return the public names of a class and of those that it derives from, the nearest first.

    Args:
        name: a class, with dots, wherever its library has it.
    """
    public = f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"
    parent = _PARENTS.get(public) or next(
        (parent for pattern, parent in _PATTERNS if pattern.fullmatch(public)), None
    )
    return (public,) if parent in (None, public) else (public, *ancestors(str(parent)))


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
        return next((_MADE[kind] for kind in known if kind in _MADE), name)
    return ""


def is_class(name: str) -> bool:
    """Tell whether a dotted name is that of a class, by its spelling."""
    last = name.rpartition(".")[2].lstrip("_")
    return last[:1].isupper()
