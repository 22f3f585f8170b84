"""Train one cell in this process, which is one of its ranks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from patchkit.lab import cuda_fp16, train, trainers

from ..families.modes import find_mode
from ..sweep.trial import TrialCourse
from ..sweep.trial import attempt as attempted
from . import checkpoint, cuda_ranks
from .strategies import STRATEGIES

_TRAINING_STEPS = 2


class OtherRank(Exception):
    """Ranks that should have the same numbers, but do not."""


def attempt(
    strategy: str, trainer: str, mode: str, method: str, models: str, folder: str
) -> dict[str, Any]:
    """Train for two steps, compare the ranks, predict, and save.

    Args:
        strategy: the name of a strategy.
        trainer: the short name of a trainer.
        mode: the name of a mode.
        method: `lora` or `full`.
        models: the folder of the tiny models.
        folder: an empty folder, the same for all ranks.

    Returns:
        the fields of a `Trial`, as this rank sees it.
    """
    course = _RankCourse(strategy, trainer, mode, method, Path(models), Path(folder))
    return attempted(course, course.run, (folder, models))


class _RankCourse(TrialCourse):
    """An attempt at one cell."""

    def __init__(
        self, strategy: str, trainer: str, mode: str, method: str, models: Path, folder: Path
    ) -> None:
        super().__init__("build")
        self.strategy = STRATEGIES[strategy]
        self.trainer = trainer
        self.mode = find_mode(mode)
        self.method = method
        self.models = models
        self.folder = folder

    def run(self) -> None:
        import torch
        import transformers

        torch.set_num_threads(1)
        cuda_fp16.install()
        if self.strategy.engine != "ddp":
            cuda_ranks.install()
        transformers.set_seed(0)
        trainer = self._build()
        self._train(trainer)
        self.step = "predict"
        logits = checkpoint.predict(trainer.model_wrapped, self.mode)
        self.figures["logits"] = logits.double().sum().item()
        self.step = "save"
        checkpoint.save(trainer, self.strategy.engine, logits, self.folder)
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()

    def _build(self) -> Any:
        precision = self.mode.precision
        quantization: Any = self.mode.quantization
        kind: Any = precision.autocast or "fp32"
        return trainers.find(self.trainer).build(
            trainers.Setup(
                folder=self.models,
                quantization=quantization,
                dtype=self.strategy.dtype(self.mode),
                compute_dtype=precision.compute,
                storage=self.strategy.storage(self.mode),
                lora=None if self.method == "full" else {},
                defaults=train.defaults(self.folder, kind, _TRAINING_STEPS, seed=0, gpu=False),
                args=self.strategy.arguments(),
                callbacks=[],
            )
        )

    def _train(self, trainer: Any) -> None:
        losses: list[float] = []
        compute_loss, training_step = trainer.compute_loss, trainer.training_step

        def forward(*args: Any, **options: Any) -> Any:
            self.step = "forward"
            result = compute_loss(*args, **options)
            losses.append(float(result[0] if isinstance(result, tuple) else result))
            self.figures["losses"] = losses
            self.step = "backward"
            return result

        def step(*args: Any, **options: Any) -> Any:
            loss = training_step(*args, **options)
            if self.strategy.engine == "ddp":
                self._expect_equal(
                    "gradients", [parameter.grad for parameter in _trained(trainer.model)]
                )
            self.step = "step"
            return loss

        self.step = "prepare"
        trainer.compute_loss, trainer.training_step = forward, step
        dtypes = Counter(
            str(parameter.dtype).removeprefix("torch.") for parameter in _trained(trainer.model)
        )
        self.figures["trained"] = dict(sorted(dtypes.items()))
        trainer.train()
        logs = [log for log in trainer.state.log_history if "grad_norm" in log]
        self.figures["gradient norms"] = [float(log["grad_norm"]) for log in logs]
        self._expect_equal("gradient norms", self.figures["gradient norms"])
        if not self.strategy.shards_weights:
            self._expect_equal("weights", _trained(trainer.model))

    def _expect_equal(self, what: str, values: Iterable[Any]) -> None:
        """Check that all ranks have the same tensors or numbers, bit for bit.

        Raises:
            OtherRank: they have not.
        """
        import torch

        digest = hashlib.sha256()
        for value in values:
            tensor = torch.as_tensor(float("nan") if value is None else value).detach()
            digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        digests: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(digests, digest.hexdigest())
        if len(set(digests)) > 1:
            raise OtherRank(f"the {what} of the ranks differ")


def _trained(model: Any) -> list[Any]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
