"""What reads settings: the classes that a parser of Transformers or TRL fills in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ScriptError
from ..reading import read
from ..reading.kinship import ancestors
from ..reading.reader import fields_of
from ..reading.script import ScriptCall
from ..reading.values import Library, Own, flat

_PARSERS = {"HfArgumentParser", "TrlParser", "H4ArgumentParser"}
_OTHER_PARSERS = {
    *("ArgumentParser", "click", "typer", "fire", "hydra", "absl", "tyro", "simple_parsing"),
}
_TRAINER = {
    "sft": "SFT",
    "dpo": "DPO",
    "kto": "KTO",
    "grpo": "GRPO",
    "rloo": "RLOO",
    "reward": "Reward",
    "orpo": "ORPO",
    "cpo": "CPO",
    "gkd": "GKD",
}
"""The configurations that commands of TRL, and the scripts of the same name, read."""
_TRAINING = {
    *("per_device_train_batch_size", "per_device_eval_batch_size"),
    *("gradient_accumulation_steps", "num_train_epochs", "lr_scheduler_type"),
    *("logging_steps", "save_steps", "save_strategy", "save_total_limit", "eval_strategy"),
    *("evaluation_strategy", "gradient_checkpointing", "max_grad_norm", "report_to"),
    *("output_dir", "learning_rate", "max_steps", "weight_decay"),
}
"""Fields of `TrainingArguments` that files of other programs seldom have several of."""
_TAKEN = re.compile(rf"""(?:\[|\.get\()["'](?:{"|".join(sorted(_TRAINING))})["']""")
_ENOUGH = 3
_MODEL = {
    *("attn_implementation", "bnb_4bit_quant_type", "load_in_4bit", "lora_alpha", "lora_r"),
    *("lora_target_modules", "use_peft"),
}
"""Fields of TRL's `ModelConfig` that tell it from the dataclasses of scripts."""
_SIGNS = {
    "SFT": {"dataset_text_field", "packing", "assistant_only_loss", "completion_only_loss"},
    "GRPO": {"num_generations", "reward_weights", "vllm_mode", "use_vllm", "reward_funcs"},
    "DPO": {"beta", "rpo_alpha", "precompute_ref_log_probs", "loss_type"},
}
"""Fields by which a configuration is known, where nothing else tells which it is."""
_HANDBOOK = {"dataset_mixer", "dataset_splits"}
"""Fields of the alignment handbook, whose settings of models are a class of its own."""
_OTHER_PROGRAMS = {
    *("finetuning_type", "dataset_dir", "cutoff_len"),
    *("base_model", "sequence_len", "micro_batch_size"),
    *("train_type", "tuner_type", "sft_type"),
}
"""Settings of LLaMA-Factory, Axolotl and ms-swift, which have classes of their own."""


@dataclass(frozen=True)
class Reader:
    """What reads a file of settings or a command line.

    Args:
        configurations: the classes that are filled in, each with the public names of those that it
            derives from.
        own: fields that classes of the script's own have.
        overridden: those of classes that derive from a library's; they get another name if the
            library's fields do.
        sets_environment: whether a file may set environment variables, below `env`.
        is_guessed: whether there may be other fields than these.
    """

    configurations: tuple[tuple[str, ...], ...]
    own: frozenset[str] = frozenset()
    overridden: frozenset[str] = frozenset()
    sets_environment: bool = False
    is_guessed: bool = False


def of_command(name: str) -> Reader | None:
    """Return what reads the command line of `trl sft`, or of the script `sft.py` of TRL."""
    if name not in _TRAINER:
        return None
    names = ("ScriptArguments", f"{_TRAINER[name]}Config", "ModelConfig")
    return Reader(tuple(_ancestors(name) for name in names), sets_environment=True)


def of_settings(names: Collection[str]) -> Reader | None:
    """Return what probably reads settings of these names; None if they are of something else."""
    if len(_TRAINING.intersection(names)) < _ENOUGH or _OTHER_PROGRAMS.intersection(names):
        return None
    trainers = [name for name, signs in _SIGNS.items() if signs.intersection(names)]
    classes = [f"{trainers[0]}Config" if len(trainers) == 1 else "TrainingArguments"]
    if _MODEL.intersection(names) and not _HANDBOOK.intersection(names):
        classes.append("ModelConfig")
    return Reader(tuple(_ancestors(name) for name in classes), is_guessed=True)


def are_settings(names: Collection[str]) -> bool:
    """Tell whether any of these names is one of a training's settings."""
    return not _TRAINING.union(_MODEL, *_SIGNS.values()).isdisjoint(names)


def of_script(text: str, folder: Path | None = None) -> Reader | None:
    """Return what reads the command line of a script.

    Args:
        text: of the script.
        folder: where it lies; None if modules beside it are not to be read.

    Returns:
        the reader; None if the script has no parser of Transformers or TRL, does not show what the
        parser fills in, or cannot be read.
    """
    if not any(name in text for name in _PARSERS):
        return None
    try:
        calls = read(text, folder).calls
    except ScriptError:
        return None
    return reader_of(
        [call for call in calls if _last(call.name) in _PARSERS and call.method == "__init__"]
    )


def reader_of(parsers: Sequence[ScriptCall]) -> Reader | None:
    """Return what parsers of a script read; None if that does not show.

    Args:
        parsers: the calls that make them.
    """
    found = [
        (_configuration(value), _own_fields(value))
        for parser in parsers
        for given in [*parser.positional[:1], *parser.keywords.values()]
        for value in flat(given.values)
    ]
    if not any(names or fields for names, fields in found):
        return None
    return Reader(
        tuple(dict.fromkeys(names for names, _ in found if names)),
        frozenset().union(*(fields for _, fields in found)),
        frozenset().union(*(fields for names, fields in found if names)),
        sets_environment=any(_last(parser.name) == "TrlParser" for parser in parsers),
    )


def _configuration(value: object) -> tuple[str, ...]:
    """Return the classes of libraries that a value is, or derives from."""
    names: Iterable[str] = ()
    if isinstance(value, Library):
        names = (value.name,)
    elif isinstance(value, Own) and value.cls is not None:
        names = (name for name in value.cls.ancestors if "." in name)  # else its own name
    return tuple(dict.fromkeys(known for name in names for known in _ancestors(_last(name))))


def _own_fields(value: object) -> frozenset[str]:
    """Return the fields that the script gives to a class of its own."""
    if not isinstance(value, Own):
        return frozenset()
    return frozenset(value.cls.fields if value.cls is not None else fields_of(value.node))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def reads_itself(text: str) -> bool:
    """Tell whether a script takes a training's settings, by their names, out of a dictionary."""
    return _TAKEN.search(text) is not None and not any(name in text for name in _PARSERS)


def has_other_parser(text: str) -> bool:
    """Tell whether a script reads its command line with another parser."""
    return any(name in text for name in _OTHER_PARSERS) or "sys.argv" in text


def _ancestors(name: str) -> tuple[str, ...]:
    """Return the public names of a configuration and of its ancestors; nothing for others."""
    if name.endswith("TrainingArguments"):
        return ancestors(f"transformers.{name}")
    known = name == "ScriptArguments" or name.endswith("Config")
    return ancestors(f"trl.{name}") if known else ()
