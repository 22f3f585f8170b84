"""Construct each of TRL's trainers on a tiny model, in whichever release is installed."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from patchkit.lab import tiny

Row = dict[str, Any]

# "all-linear" would take in a reward model's score, which bitsandbytes leaves alone. TRL up to 0.25
# takes any 4-bit model on a CPU for a sharded one, and leaves such an adapter in half precision.
_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


class TrainerUnavailable(ValueError):
    """There is no such trainer, or the installed TRL does not have it."""


@dataclass(frozen=True)
class Setup:
    """The choices for the construction of a trainer."""

    #: The folder for models.
    folder: Path
    quantization: tiny.Quantization
    #: The dtype of the checkpoint, in which it is loaded.
    dtype: str
    #: `LoraConfig` arguments, over the defaults; None to train the whole model.
    lora: Mapping[str, Any] | None
    #: Training arguments for every trainer; those that a release does not know are left out.
    defaults: Mapping[str, Any]
    #: Training arguments over those and the recipe's; an unknown one is an error.
    args: Mapping[str, Any]
    callbacks: list[Any]
    #: The dtype that 4-bit layers compute in; the checkpoint's if None.
    compute_dtype: str | None = None
    #: The dtype that 4-bit weights are stored in.
    storage: str = "uint8"


@dataclass(frozen=True)
class Recipe:
    """The recipe of a trainer: its classes, its data, and what it needs beyond a causal model."""

    #: The classes' common prefix: "SFT" for `SFTTrainer` and `SFTConfig`.
    prefix: str
    #: The training set.
    rows: Callable[[], list[Row]]
    head: tiny.Head = "causal"
    #: Training arguments, over the defaults for every trainer.
    args: Mapping[str, Any] = field(default_factory=dict)
    #: More arguments of the trainer itself.
    extra: Callable[[Setup], dict[str, Any]] = lambda setup: {}
    #: The module of the classes in releases that do not have them in `trl` itself.
    experimental: str = ""

    def build(self, setup: Setup) -> Any:
        import datasets

        trainer, config = self.classes()
        accepted = {entry.name for entry in dataclasses.fields(config)}
        requested = {**setup.defaults, **self.args}
        arguments = {name: value for name, value in requested.items() if name in accepted}
        # Before the model, which is loaded in parts if the arguments say that it is sharded.
        args = config(**{**arguments, **setup.args})
        folder = self.checkpoint(setup.folder, setup.dtype)
        return trainer(
            model=tiny.load(
                folder,
                quantization=setup.quantization,
                dtype=setup.dtype,
                head=self.head,
                compute_dtype=setup.compute_dtype,
                storage=setup.storage,
            ),
            args=args,
            train_dataset=datasets.Dataset.from_list(self.rows()),
            processing_class=tiny.load_tokenizer(folder),
            peft_config=None if setup.lora is None else _lora(setup.lora),
            callbacks=setup.callbacks,
            **self.extra(setup),
        )

    def checkpoint(self, folder: Path, dtype: str) -> Path:
        """Return the saved tiny model that it trains; it is made if it is not there."""
        if self.head == "reward":
            return tiny.build_reward_model(folder / f"reward-model-{dtype}", dtype=dtype)
        return tiny.build_causal_lm(folder / f"causal-lm-{dtype}", dtype=dtype)

    def classes(self) -> tuple[type[Any], type[Any]]:
        """Return the trainer's class and its configuration's, from where users import them."""
        import trl

        for module in filter(None, ("trl", self.experimental)):
            try:
                home = importlib.import_module(module)
                return getattr(home, f"{self.prefix}Trainer"), getattr(home, f"{self.prefix}Config")
            except (ImportError, AttributeError):
                continue
        raise TrainerUnavailable(f"TRL {trl.__version__} has no {self.prefix}Trainer")


def find(name: str) -> Recipe:
    """Return the recipe of a trainer by its short name, such as "sft"."""
    try:
        return TRAINERS[name]
    except KeyError:
        names = ", ".join(TRAINERS)
        raise TrainerUnavailable(f"no trainer {name!r}; there are {names}") from None


def _lora(options: Mapping[str, Any]) -> Any:
    import peft

    return peft.LoraConfig(**{"r": 4, "lora_alpha": 8, "target_modules": _PROJECTIONS, **options})


def _sentence(row: int, shift: int = 0, length: int = 6) -> str:
    """Join words in the vocabulary's order, which a model can learn."""
    words = tiny.WORDS
    return " ".join(words[(5 * row + 2 * shift + place) % len(words)] for place in range(length))


def _texts() -> list[Row]:
    return [{"text": _sentence(row, length=12)} for row in range(8)]


def _prompts() -> list[Row]:
    return [{"prompt": _sentence(row)} for row in range(8)]


def _pairs() -> list[Row]:
    return [
        {
            "prompt": _sentence(row),
            "chosen": " " + _sentence(row, shift=3),
            "rejected": " " + _sentence(row, shift=20),
        }
        for row in range(8)
    ]


def _labels() -> list[Row]:
    return [
        {
            "prompt": _sentence(row),
            "completion": " " + _sentence(row, shift=3 if row % 2 else 20),
            "label": bool(row % 2),
        }
        for row in range(8)
    ]


def _reward(completions: list[str], **_: Any) -> list[float]:
    """Score completions from 0 to 1, rarely two alike: equal scores would teach nothing.

    Larger scores would overflow fp16 gradients under a new scaler, which then skips those steps.
    """
    return [sum(map(ord, text)) % 17 / 17 for text in completions]


def _reward_arguments(setup: Setup) -> dict[str, Any]:
    return {"reward_funcs": _reward}


def _teacher_arguments(setup: Setup) -> dict[str, Any]:
    folder = tiny.build_causal_lm(
        setup.folder / f"teacher-{setup.dtype}", dtype=setup.dtype, seed=1
    )
    return {"teacher_model": tiny.load(folder, dtype=setup.dtype)}


_SAMPLING = {"num_generations": 2, "max_prompt_length": 16, "max_completion_length": 8}

#: The trainers by their short names.
TRAINERS: dict[str, Recipe] = {
    "sft": Recipe("SFT", _texts, args={"max_length": 32}),
    "dpo": Recipe("DPO", _pairs, args={"max_length": 32, "max_prompt_length": 16}),
    "reward": Recipe("Reward", _pairs, head="reward", args={"max_length": 32}),
    "kto": Recipe("KTO", _labels, args={"max_length": 32, "max_prompt_length": 16}),
    "grpo": Recipe("GRPO", _prompts, args=_SAMPLING, extra=_reward_arguments),
    "rloo": Recipe("RLOO", _prompts, args=_SAMPLING, extra=_reward_arguments),
    "online_dpo": Recipe(
        "OnlineDPO",
        _prompts,
        args={"max_new_tokens": 8},
        extra=_reward_arguments,
        experimental="trl.experimental.online_dpo",
    ),
    "distillation": Recipe(
        "Distillation", _prompts, args={"max_completion_length": 8}, extra=_teacher_arguments
    ),
}
