"""Models, tokenizers and rows that every program makes for itself, with names that all releases have."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "hill",
    "and",
    "of",
    "is",
    "was",
    "it",
    "big",
    "small",
    "red",
    "blue",
    "Hello",
    "world",
    ",",
    ".",
    "!",
    "?",
]
TEXTS = ("the cat sat on the mat .", "a dog ran under the red hill and sat", "Hello , world !")
CHAT = (
    "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} </s> {% endfor %}"
    "{% if add_generation_prompt %}<assistant> {% endif %}"
)
SIZE = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
TOKENS = ("<pad>", "<s>", "</s>", "<unk>", "<user>", "<assistant>")


def given(function: Any, **choices: Any) -> dict[str, Any]:
    """Return the keywords that a function takes.

    Args:
        function: a class or function.
        choices: values by keyword; `new__or__old` is the first of the two that it takes.
    """
    taken = inspect.signature(function).parameters
    found = {}
    for names, value in choices.items():
        for name in names.split("__or__"):
            if name in taken:
                found[name] = value
                break
    return found


def read(made: Any, name: str) -> Any:
    """Return an attribute, or say that there is none; `getattr` with a default means less to the layer."""
    try:
        return _read(made, name)
    except AttributeError:
        return "no such attribute"


def _read(made: Any, name: str) -> Any:
    return getattr(made, name)


def tokenizer(**settings: Any) -> Any:
    """Return a tokenizer of whole words, with a chat template."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = {word: number for number, word in enumerate((*TOKENS, *WORDS))}
    made = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    given = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    names = {"model_input_names": ["input_ids", "attention_mask"]}
    fast = PreTrainedTokenizerFast(tokenizer_object=made, **{**given, **names, **settings})
    fast.chat_template = CHAT
    return fast


def llama(**settings: Any) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    return LlamaForCausalLM(
        LlamaConfig(**{**SIZE, **ids, "max_position_embeddings": 64, **settings})
    )


def t5(**settings: Any) -> Any:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    ids = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 2}
    return T5ForConditionalGeneration(T5Config(vocab_size=40, **{**sizes, **ids, **settings}))


def bert(head: str = "BertForSequenceClassification", **settings: Any) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    return getattr(transformers, head)(
        transformers.BertConfig(**{**SIZE, "pad_token_id": 0, **settings})
    )


def saved(made: Any = None) -> str:
    """Save a model and its tokenizer into a folder, and return its name."""
    made = made if made is not None else llama()
    folder = Path(f"saved-{type(made).__name__}")
    made.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return str(folder)


def rows(*columns: str, count: int = 8) -> Any:
    """Return a dataset with some of the columns that trainers take."""
    from datasets import Dataset

    def said(role: str, text: str) -> dict[str, str]:
        return {"role": role, "content": text}

    asked, answered, other = TEXTS
    values: dict[str, Any] = {
        "text": asked,
        "messages": [said("user", asked), said("assistant", answered)],
        "prompt": asked,
        "completion": f" {answered}",
        "chosen": f" {answered}",
        "rejected": f" {other}",
        "label": True,
        "answer": "a cat",
        "input_ids": [1, 6, 8, 10, 2],
        "attention_mask": [1] * 5,
        "labels": [1, 6, 8, 10, 2],
    }
    found = {column: [values[column]] * count for column in columns}
    for column in found.keys() & {"label"}:
        found[column] = [number % 2 == 0 for number in range(count)]
    return Dataset.from_dict(found)


def arguments(cls: Any, **settings: Any) -> Any:
    """Return the configuration of a trainer that takes two steps on a CPU, and reports to nobody."""
    few = {
        "output_dir": "out",
        "max_steps": 2,
        "per_device_train_batch_size": 2,
        "per_device_eval_batch_size": 2,
        "report_to": [],
        "disable_tqdm": True,
        "logging_steps": 1,
        "use_cpu__or__no_cuda": True,
        "save_strategy": "no",
        "seed": 1,
        "bf16": False,
    }
    names = {name for pair in settings for name in pair.split("__or__")}
    few = {name: value for name, value in few.items() if not names & set(name.split("__or__"))}
    return cls(**given(cls, **{**few, **settings}))


def files(folder: str | Path) -> list[str]:
    """Return the names of all files below a folder."""
    return sorted(
        path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file()
    )


def keys_of(file: str | Path) -> list[str]:
    """Return the keys of a JSON file."""
    return sorted(json.loads(Path(file).read_text()))
