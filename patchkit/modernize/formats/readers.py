"""What reads settings: the classes that a parser of Transformers or TRL fills in."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..reading.kinship import ancestors

_PARSERS = {"HfArgumentParser", "TrlParser", "H4ArgumentParser"}
_OTHER_PARSERS = {
    "ArgumentParser",
    "click",
    "typer",
    "fire",
    "hydra",
    "absl",
    "tyro",
    "simple_parsing",
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
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "lr_scheduler_type",
    "logging_steps",
    "save_steps",
    "save_strategy",
    "save_total_limit",
    "eval_strategy",
    "evaluation_strategy",
    "gradient_checkpointing",
    "max_grad_norm",
    "report_to",
    "output_dir",
    "learning_rate",
    "max_steps",
    "weight_decay",
}
"""Fields of `TrainingArguments` that files of other programs seldom have several of."""
_ENOUGH = 3
_MODEL = {
    "attn_implementation",
    "bnb_4bit_quant_type",
    "load_in_4bit",
    "lora_alpha",
    "lora_r",
    "lora_target_modules",
    "use_peft",
}
"""Fields of TRL's `ModelConfig` that tell it from the dataclasses of scripts."""
_SIGNS = {
    "SFT": {"dataset_text_field", "packing", "assistant_only_loss", "completion_only_loss"},
    "GRPO": {"num_generations", "reward_weights", "vllm_mode", "use_vllm", "reward_funcs"},
    "DPO": {"beta", "rpo_alpha", "precompute_ref_log_probs", "loss_type"},
}
"""Fields by which a configuration is known, where nothing else tells which it is."""


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
    """

    configurations: tuple[tuple[str, ...], ...]
    own: frozenset[str] = frozenset()
    overridden: frozenset[str] = frozenset()
    sets_environment: bool = False


def of_command(name: str) -> Reader | None:
    """Return what reads the command line of `trl sft`, or of the script `sft.py` of TRL."""
    if name not in _TRAINER:
        return None
    names = ("ScriptArguments", f"{_TRAINER[name]}Config", "ModelConfig")
    return Reader(tuple(_ancestors(name) for name in names), sets_environment=True)


def of_settings(names: Collection[str]) -> Reader | None:
    """Return what probably reads settings of these names; None if they are of something else."""
    if len(_TRAINING.intersection(names)) < _ENOUGH:
        return None
    kinds = [kind for kind, signs in _SIGNS.items() if signs.intersection(names)]
    classes = [f"{kinds[0]}Config" if len(kinds) == 1 else "TrainingArguments"]
    if _MODEL.intersection(names):
        classes.append("ModelConfig")
    return Reader(tuple(_ancestors(name) for name in classes))


def are_settings(names: Collection[str]) -> bool:
    """Tell whether any of these names is one of a training's settings."""
    return not _TRAINING.union(_MODEL, *_SIGNS.values()).isdisjoint(names)


def of_script(text: str) -> Reader | None:
    """Return what reads the command line of a script.

    Args:
        text: of the script.

    Returns:
        the reader; None if the script has no parser of Transformers or TRL, or cannot be read.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    script = _Script(tree)
    parsers = [
        (node, name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (name := script.original(node.func)) in _PARSERS
    ]
    if not parsers:
        return None
    named = [
        node
        for parser, _ in parsers
        for given in [*parser.args[:1], *(it.value for it in parser.keywords)]
        for node in ast.walk(given)
    ]
    found = [(list(script.configurations(node)), set(script.fields(node))) for node in named]
    return Reader(
        tuple(dict.fromkeys(it for configurations, _ in found for it in configurations)),
        frozenset().union(*(fields for _, fields in found)),
        frozenset().union(*(fields for configurations, fields in found if configurations)),
        sets_environment=any(name == "TrlParser" for _, name in parsers),
    )


def parses_otherwise(text: str) -> bool:
    """Tell whether a script reads its command line by something else."""
    return any(name in text for name in _OTHER_PARSERS) or "sys.argv" in text


def _ancestors(name: str) -> tuple[str, ...]:
    """Return the public names of a configuration and of its ancestors; nothing for others."""
    if name.endswith("TrainingArguments"):
        return ancestors(f"transformers.{name}")
    known = name == "ScriptArguments" or name.endswith("Config")
    return ancestors(f"trl.{name}") if known else ()


class _Script:
    """The names of a script, and its classes."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        self._aliases = {
            name.asname or name.name: name.name
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        self._classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}

    def original(self, node: ast.AST) -> str:
        """Return the last part of a name, as the library has it; nothing if it is no name."""
        if isinstance(node, ast.Name):
            return self._aliases.get(node.id, node.id)
        return node.attr if isinstance(node, ast.Attribute) else ""

    def configurations(self, node: ast.AST) -> Iterator[tuple[str, ...]]:
        """Yield the classes of libraries that a name stands for, or derives from."""
        own = list(self._own(node))
        for it in [node] if not own else [base for kind in own for base in kind.bases]:
            if next(self._own(it), None) is None and (kinds := _ancestors(self.original(it))):
                yield kinds

    def fields(self, node: ast.AST) -> Iterator[str]:
        """Yield the fields that the script gives to a class of its own."""
        for kind in self._own(node):
            for statement in kind.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    yield statement.target.id

    def _own(
        self, node: ast.AST, seen: frozenset[ast.ClassDef] = frozenset()
    ) -> Iterator[ast.ClassDef]:
        """Yield the class of the script that a name stands for, and those that it derives from."""
        kind = self._classes.get(node.id) if isinstance(node, ast.Name) else None
        if kind is not None and kind not in seen:
            yield kind
            for base in kind.bases:
                yield from self._own(base, seen | {kind})
