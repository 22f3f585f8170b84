"""The ways to train a model: in full, or by one of PEFT's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from patchkit.errors import UsageError

from .model_types import TASKS

_LINEAR = "all-linear"


@dataclass(frozen=True)
class TrainingMethod:
    """One way to train.

    Args:
        config: the name of PEFT's configuration class; empty for full fine-tuning.
        options: its arguments.
        targets: whether it takes `target_modules="all-linear"`.
        extra: more arguments that depend on the model.
        tasks: whether it is told the task of each row.
    """

    config: str
    options: Mapping[str, Any] = field(default_factory=dict)
    targets: bool = True
    extra: Callable[[Any], dict[str, Any]] = lambda model: {}
    tasks: bool = False

    def given(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a model with such adapters is given in addition."""
        import torch

        rows = len(next(iter(batch.values())))
        return {"task_ids": torch.zeros(rows, dtype=torch.long)} if self.tasks else {}


def _lora(**options: Any) -> TrainingMethod:
    return TrainingMethod("LoraConfig", {"r": 4, "lora_alpha": 8, **options})


def _loftq(model: Any) -> dict[str, Any]:
    import peft

    return {"loftq_config": peft.LoftQConfig(loftq_bits=4)}


def _oft(name: str) -> TrainingMethod:
    return TrainingMethod(
        name, {"oft_block_size": 8} if name == "OFTConfig" else {"boft_block_size": 4}
    )


def _norms(model: Any) -> dict[str, Any]:
    names = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if "norm" in type(module).__name__.lower()
    }
    return {"target_modules": sorted(names)}


def _tokens(model: Any) -> dict[str, Any]:
    return {"token_indices": [50, 51, 52]}


def _ia3(model: Any) -> dict[str, Any]:
    return {"feedforward_modules": []}


_VIRTUAL = {"num_virtual_tokens": 4}
METHODS: dict[str, TrainingMethod] = {
    "full": TrainingMethod(""),
    "lora": _lora(),
    "lora-bias": _lora(bias="all"),
    "lora-embedding": TrainingMethod(
        "LoraConfig",
        {"r": 4},
        targets=False,
        extra=lambda model: {
            "target_modules": [
                next(
                    name.rpartition(".")[2]
                    for name, module in model.named_modules()
                    if module is model.get_input_embeddings()
                )
            ]
        },
    ),
    "dora": _lora(use_dora=True),
    "rslora": _lora(use_rslora=True),
    "olora": _lora(init_lora_weights="olora"),
    "pissa": _lora(init_lora_weights="pissa"),
    "loftq": TrainingMethod(
        "LoraConfig", {"r": 4, "lora_alpha": 8, "init_lora_weights": "loftq"}, extra=_loftq
    ),
    "adalora": TrainingMethod("AdaLoraConfig", {"init_r": 6, "target_r": 4, "total_step": 10}),
    "loha": TrainingMethod("LoHaConfig", {"r": 4, "alpha": 8}),
    "lokr": TrainingMethod("LoKrConfig", {"r": 4, "alpha": 8}),
    "oft": _oft("OFTConfig"),
    "boft": _oft("BOFTConfig"),
    "vera": TrainingMethod("VeraConfig", {"r": 4}),
    "pvera": TrainingMethod("PveraConfig", {"r": 4}),
    "randlora": TrainingMethod("RandLoraConfig", {"r": 4}),
    "ia3": TrainingMethod("IA3Config", extra=_ia3),
    "road": TrainingMethod("RoadConfig", {"group_size": 8}),
    "shira": TrainingMethod("ShiraConfig", {"r": 4}),
    "hra": TrainingMethod("HRAConfig", {"r": 4}),
    "miss": TrainingMethod("MissConfig", {"r": 4}),
    "c3a": TrainingMethod("C3AConfig", {"block_size": 16}),
    "fourierft": TrainingMethod("FourierFTConfig", {"n_frequency": 20}),
    "waveft": TrainingMethod("WaveFTConfig", {"n_frequency": 20}),
    "delora": TrainingMethod("DeloraConfig", {"r": 4}),
    "gralora": TrainingMethod("GraloraConfig", {"r": 4}),
    "vblora": TrainingMethod("VBLoRAConfig", {"r": 4, "num_vectors": 16, "vector_length": 8}),
    "poly": TrainingMethod(
        "PolyConfig", {"r": 4, "n_tasks": 2, "n_skills": 2, "n_splits": 2}, tasks=True
    ),
    "ln-tuning": TrainingMethod("LNTuningConfig", targets=False, extra=_norms),
    "trainable-tokens": TrainingMethod("TrainableTokensConfig", targets=False, extra=_tokens),
    "prompt": TrainingMethod("PromptTuningConfig", _VIRTUAL, targets=False),
    "prefix": TrainingMethod("PrefixTuningConfig", _VIRTUAL, targets=False),
    "p-tuning": TrainingMethod(
        "PromptEncoderConfig", {**_VIRTUAL, "encoder_hidden_size": 32}, targets=False
    ),
}


def select(globs: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the methods that any of the globs names, in their order.

    Args:
        globs: names or globs, such as `*lora`; `all` names all.
        default: what is returned for none.

    Raises:
        UsageError: a glob names no method.
    """
    chosen: set[str] = set()
    for glob in globs or default:
        found = [name for name in METHODS if glob == "all" or fnmatchcase(name, glob)]
        if not found:
            raise UsageError(f"no method {glob!r}; there are {', '.join(METHODS)}")
        chosen.update(found)
    return tuple(name for name in METHODS if name in chosen)


def adapters(model: Any, name: str, task: str, targets: list[str] | None = None) -> Any:
    """Return PEFT's configuration of a method; None if the whole model is trained.

    Args:
        model: a loaded model.
        name: the method.
        task: the task of the model's class.
        targets: names of the layers to adapt; all that PEFT takes for linear if None.
    """
    import peft

    method = METHODS[name]
    if not method.config:
        return None
    options: dict[str, Any] = {**method.options, "task_type": TASKS[task].peft or None}
    if method.targets:
        options["target_modules"] = targets or _LINEAR
        names = {
            name.rpartition(".")[2]
            for name, module in model.named_modules()
            if type(module).__name__ != "ModuleList"  # PEFT saves none
        }
        heads = [name for name in TASKS[task].heads if name in names][:1]
        if heads:  # PEFT saves all whose names end so
            ending = sorted(name for name in names if name.endswith(heads[0]))
            options |= {"modules_to_save": heads, "exclude_modules": ending}
    return getattr(peft, method.config)(**options, **method.extra(model))
