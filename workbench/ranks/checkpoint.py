"""Save what ranks have trained, and load it in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from patchkit.lab import cuda_fp16, tiny, trainers

from ..families.modes import Mode, find_mode
from ..sweep.trial import OtherLogits, TrialCourse, attempt, autocast
from .strategies import STRATEGIES

_LOGITS = "logits.pt"
_SAVED = "saved"
_MOST_DISTANCE = 0.05
"""How far logits may be from those of the ranks, relative to their size."""


class NoWeights(Exception):
    """A file of adapters is empty."""


def predict(model: Any, mode: Mode) -> Any:
    """Return a model's logits for a few rows, in the precision that it was trained in.

    A reward model has one for each row, and a single one may be nearly zero.
    """
    import torch

    ids = torch.arange(10, 50).reshape(4, 10)
    model.eval()
    with torch.no_grad(), autocast(mode.precision.autocast):
        return model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.float()


def save(trainer: Any, engine: str, logits: Any, folder: Path) -> None:
    """Save the checkpoint of all ranks, and the logits of the first.

    Args:
        trainer: a trainer.
        engine: what shares the training.
        logits: what it predicts.
        folder: the folder for both.
    """
    import torch

    if engine == "fsdp":
        _save_fsdp(trainer, folder / _SAVED)
    else:
        trainer.save_model(str(folder / _SAVED))
    if trainer.accelerator.is_main_process:
        torch.save(logits, folder / _LOGITS)


def _save_fsdp(trainer: Any, folder: Path) -> None:
    """Save without FSDP's own state dictionary: on a CPU it holds memory that is freed."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    sharded = trainer.model_wrapped
    with FullyShardedDataParallel.summon_full_params(sharded, writeback=False):
        state = {name: value.detach().clone() for name, value in sharded.named_parameters()}
        state |= {name: value.clone() for name, value in sharded.named_buffers()}
    if trainer.accelerator.is_main_process:
        trainer._save(str(folder), state_dict=state)


def load(
    strategy: str, trainer: str, mode: str, method: str, models: str, folder: str
) -> dict[str, Any]:
    """Load a checkpoint in this process, and compare its logits with those of the ranks.

    Args:
        strategy: the name of the strategy that it was trained by.
        trainer: the short name of the trainer that saved it.
        mode: the name of a mode.
        method: `lora` or `full`.
        models: the folder of the tiny models.
        folder: that of `save`.

    Returns:
        the fields of a `Trial`.
    """
    course = TrialCourse("reload")

    def reload() -> None:
        adapters = Path(folder) / _SAVED
        dtype = STRATEGIES[strategy].dtype(find_mode(mode))
        base = trainers.find(trainer).checkpoint(Path(models), dtype)
        model = _loaded(trainer, find_mode(mode), dtype, adapters if method == "full" else base)
        distance = _distance(
            model if method == "full" else _with_adapters(model, adapters),
            find_mode(mode),
            Path(folder) / _LOGITS,
        )
        course.figures["distance after reload"] = distance
        if not distance <= _MOST_DISTANCE:
            raise OtherLogits("the logits are far from those of the ranks")

    return attempt(course, reload, (folder, models))


def _loaded(trainer: str, mode: Mode, dtype: str, folder: Path) -> Any:
    import torch

    torch.set_num_threads(1)
    cuda_fp16.install()
    quantization: Any = mode.quantization
    return tiny.load(
        folder,
        quantization=quantization,
        dtype=dtype,
        head=trainers.find(trainer).head,
        compute_dtype=mode.precision.compute,
    )


def _with_adapters(model: Any, folder: Path) -> Any:
    import peft
    from safetensors import safe_open

    with safe_open(folder / "adapter_model.safetensors", framework="pt") as file:
        if not file.keys():
            raise NoWeights("the saved adapter has no weights")
    return peft.PeftModel.from_pretrained(model, folder)


def _distance(model: Any, mode: Mode, expected: Path) -> float:
    import torch

    logits = torch.load(expected)
    return float((predict(model, mode) - logits).norm() / logits.norm())
