"""Train LoRA adapters on a tiny model for a few steps, with any of TRL's trainers."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from patchkit.lab import tiny, trainers
from patchkit.lab.course import Course
from patchkit.lab.dtypes import KindDtypes

if TYPE_CHECKING:
    import torch

Precision = Literal["fp16", "bf16", "fp32"]
#: Their dtypes by torch's names.
DTYPES: dict[Precision, str] = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training."""

    trainer: str
    precision: str
    checkpoint: str
    quantization: str
    #: The loss of each step.
    losses: tuple[float, ...]
    #: Trainable tensors by dtype name, after the trainer's construction: `{"float32": 28}`.
    trainable_dtypes: dict[str, int]
    #: The same after training.
    trainable_dtypes_after: dict[str, int]
    #: All of the model's dtypes by kinds of modules, when training began.
    dtypes: tuple[KindDtypes, ...]
    #: Number of trainable tensors with other values after training.
    changed: int
    #: The version of TRL.
    trl: str
    #: The device of the training, such as "cpu".
    device: str
    #: Wall time of loading, construction and training, imports included.
    seconds: float


def train(
    trainer: str,
    *,
    precision: Precision = "fp16",
    checkpoint: Precision | None = None,
    quantization: tiny.Quantization = "4bit",
    steps: int = 3,
    folder: Path,
    seed: int = 0,
    lora: dict[str, Any] | None = None,
    args: dict[str, Any] | None = None,
    course: Course | None = None,
) -> TrainingResult:
    """Train LoRA adapters on a tiny model. Errors of the libraries reach the caller.

    On a machine without a GPU, fp16 takes CUDA's path only within `cuda_fp16.cuda_fp16_on_cpu`.

    Args:
        trainer: A name in `trainers.TRAINERS`, such as "sft".
        precision: Mixed precision, and the dtype that 4-bit layers compute in.
        checkpoint: The dtype that the base model is saved in, and loaded; the usual one if None.
        quantization: How bitsandbytes stores the base model.
        steps: Optimizer steps.
        folder: The folder for the model, which is saved once, and the trainer's output.
        seed: Seed of the adapters, the data order and sampling.
        lora: `LoraConfig` arguments, over the defaults.
        args: Training arguments, over the defaults.
        course: Records the training, also of one that dies.

    Raises:
        trainers.TrainerUnavailable: The installed TRL has no such trainer.
    """
    started = time.perf_counter()
    tiny.go_offline()
    recipe = trainers.find(trainer)
    checkpoint = checkpoint or usual_checkpoint(precision)
    import torch
    import transformers
    import trl

    transformers.set_seed(seed)
    course = course or Course()
    instance = recipe.build(
        trainers.Setup(
            folder=folder,
            quantization=quantization,
            dtype=DTYPES[checkpoint],
            compute_dtype=DTYPES[precision],
            lora=lora or {},
            defaults=defaults(folder, precision, steps, seed=seed, gpu=torch.cuda.is_available()),
            args=args or {},
            callbacks=[course.callback()],
        )
    )
    before = {name: value.clone() for name, value in _trainable(instance.model).items()}
    instance.train()
    after = _trainable(instance.model)
    return TrainingResult(
        trainer=trainer,
        precision=precision,
        checkpoint=checkpoint,
        quantization=quantization,
        losses=course.losses_in_order(),
        trainable_dtypes=_count_dtypes(before),
        trainable_dtypes_after=_count_dtypes(after),
        dtypes=course.dtypes,
        changed=sum(
            name not in after or not torch.equal(value.float(), after[name].float())
            for name, value in before.items()
        ),
        trl=trl.__version__,
        device=str(instance.accelerator.device),
        seconds=round(time.perf_counter() - started, 2),
    )


def usual_checkpoint(precision: Precision) -> Precision:
    """Return the dtype of the checkpoints that most train from: bfloat16, but for float32."""
    return "fp32" if precision == "fp32" else "bf16"


def defaults(
    folder: Path, precision: Precision, steps: int, *, seed: int, gpu: bool
) -> dict[str, Any]:
    """Return the training arguments of a short training; see `train`."""
    return {
        "output_dir": str(folder / "output"),
        "fp16": precision == "fp16",
        # Set even if false: TRL defaults to bf16.
        "bf16": precision == "bf16",
        "use_cpu": not gpu,
        "dataloader_pin_memory": gpu,
        "max_steps": steps,
        "seed": seed,
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 1,
        "gradient_checkpointing": False,
        "learning_rate": 1e-2,
        "lr_scheduler_type": "constant",
        "logging_steps": 1,
        "disable_tqdm": True,
        "report_to": [],
        "save_strategy": "no",
    }


def _trainable(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {
        name: parameter.detach()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }


def _count_dtypes(tensors: dict[str, torch.Tensor]) -> dict[str, int]:
    names = (str(tensor.dtype).removeprefix("torch.") for tensor in tensors.values())
    return dict(Counter(names))
