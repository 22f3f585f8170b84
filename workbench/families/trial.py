"""Try one model type in one mode by one method, in this process."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from patchkit.lab import cuda_fp16, tiny
from patchkit.precision.quant_state import packed_values

from ..sweep.limits import limit_memory
from ..sweep.trial import OtherLogits, TrialCourse, autocast
from ..sweep.trial import attempt as attempted
from .building import INPUTS, Unsuitable
from .images import Batch
from .inputs import beginning, for_prediction, logits_of
from .loading import load
from .methods import METHODS, adapted
from .model_types import TASKS, loader, pretrained
from .modes import Mode, find_mode
from .quantizers import linear_layers
from .watching import returned_dtypes

_TRAINING_STEPS = 2
_MOST_STEPS = 20
"""How many it may take until a gradient scaler, which begins at 65536, has skipped no more."""
_NEW_WORDS = 3
_MOST_DISTANCE = {"reload": 0.05, "merge": 0.5}
"""How far logits may be from those before, relative to their size."""
_ROUNDING = 0.01
"""How far a weight may be from what was saved, relative to its size."""
_MORE_THAN_ROUNDING = 1.2
"""How much further from the sum a merged weight may be than rounding it alone."""


class LostWeights(Exception):
    """What was saved and loaded again is not what was trained."""


def attempt(
    task: str, mode: str, method: str, checkpoints: str, folder: str, memory: float
) -> dict[str, Any]:
    """Load, train, save, load again, merge and generate.

    Args:
        task: the task of the model's class.
        mode: the name of a mode.
        method: the name of a method.
        checkpoints: the folder that `building.build` has filled.
        folder: an empty folder.
        memory: GiB that this process may take in addition to what it has.

    Returns:
        the fields of a `Trial`.
    """
    limit_memory(memory)
    course = _FamilyCourse(task, find_mode(mode), method, Path(checkpoints), Path(folder))
    return attempted(course, course.run, (folder, checkpoints), memory)


class _FamilyCourse(TrialCourse):
    """An attempt at one cell."""

    def __init__(self, task: str, mode: Mode, method: str, checkpoints: Path, folder: Path) -> None:
        super().__init__("load")
        self.task = task
        self.mode = mode
        self.method = method
        self.checkpoints = checkpoints
        self.folder = folder

    def run(self) -> None:
        import torch
        import transformers

        torch.set_num_threads(1)
        cuda_fp16.install()
        stored = torch.load(self.checkpoints / INPUTS)
        batch: Batch = stored["batch"]
        with contextlib.suppress(Exception):  # training may work nevertheless
            self._look_at(self._load(), batch, stored["logits"])
        base = self._load()
        transformers.set_seed(0)
        self.step = "adapt"
        targets = None
        if self.mode.quantizer is not None and not self.mode.quantizer.plain:
            targets = linear_layers(loader(self.task), base.config)
        model = adapted(base, self.method, self.task, targets)
        batch |= METHODS[self.method].given(batch)
        self._train(model, batch)
        self.step = "predict"
        with self._watching(model):
            logits = self._predict(model, batch)
        self.step = "save"
        options = TASKS[self.task].saving if hasattr(model, "peft_config") else {}
        model.save_pretrained(self.folder / "saved", **options)
        self.step = "reload"
        again = self._reload()
        _expect_same_weights(dict(_trained(model)), dict(again.named_parameters()))
        self._expect(logits, self._predict(again, batch))
        if TASKS[self.task].generates:
            self.step = "generate"
            self._generate(model, batch)
        if hasattr(model, "merge_and_unload"):
            self.step = "merge"
            packed = (self.mode.quantization, self.method) == ("4bit", "lora")
            sums = dict(_sums(model)) if packed else {}
            model = model.merge_and_unload()
            try:
                self._expect(logits, self._predict(model, batch))
            except OtherLogits:
                if not _are_rounded(sums, model):
                    raise

    def _look_at(self, model: Any, batch: Batch, logits: Any) -> None:
        """Note how far a loaded model's logits are from those in float32."""
        self.figures["distance to float32"] = _distance(logits, self._predict(model, batch))

    def _load(self) -> Any:
        return load(self.task, self.mode, self.checkpoints)

    def _reload(self) -> Any:
        saved = self.folder / "saved"
        if self.method == "full":
            return pretrained(self.task, saved, **{tiny.dtype_keyword(): "auto"})
        import peft

        return peft.PeftModel.from_pretrained(self._load(), saved)

    def _train(self, model: Any, batch: Batch) -> None:
        import torch
        import transformers

        course = self
        self.step = "prepare"
        losses: list[float] = []

        class Trainer(transformers.Trainer):  # type: ignore[misc]
            """Tell how far a step has come."""

            def compute_loss(self, *args: Any, **options: Any) -> Any:
                course.step = "forward"
                result = super().compute_loss(*args, **options)
                loss = result[0] if isinstance(result, tuple) else result
                losses.append(loss.item())
                course.figures["losses"] = losses
                course.step = "backward"
                return result

            def training_step(self, *args: Any, **options: Any) -> Any:
                loss = super().training_step(*args, **options)
                course.step = "step"
                return loss

        class EndAfterTakenSteps(transformers.TrainerCallback):  # type: ignore[misc]
            """End a training after its steps, without those that the scaler skipped."""

            def __init__(self) -> None:
                self.taken = 0
                self.scale = _scale(trainer)

            def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
                # A fused optimizer skips steps itself, and Accelerate does not notice.
                before, self.scale = self.scale, _scale(trainer)
                self.taken += self.scale >= before
                control.should_training_stop = self.taken == _TRAINING_STEPS

        before = {name: value.detach().clone() for name, value in _trained(model)}
        trainer = Trainer(
            model=model,
            args=transformers.TrainingArguments(
                output_dir=str(self.folder / "output"),
                fp16=self.mode.precision.autocast == "fp16",
                bf16=self.mode.precision.autocast == "bf16",
                use_cpu=True,
                max_steps=_MOST_STEPS,
                per_device_train_batch_size=1,
                learning_rate=1e-2,
                lr_scheduler_type="constant",
                logging_steps=1,
                remove_unused_columns=False,
                dataloader_pin_memory=False,
                disable_tqdm=True,
                report_to=[],
                save_strategy="no",
            ),
            train_dataset=list(range(_MOST_STEPS)),
            data_collator=lambda rows: copy.deepcopy(batch),
        )
        trainer.remove_callback(transformers.PrinterCallback)
        ending = EndAfterTakenSteps()
        trainer.add_callback(ending)
        trainer.train()
        logs = [log for log in trainer.state.log_history if "grad_norm" in log]
        self.figures["gradient norms"] = [float(log["grad_norm"]) for log in logs]
        self.figures["changed"] = sum(
            name in before and not torch.equal(before[name].float(), value.detach().float())
            for name, value in _trained(model)
        )
        if not all(map(_is_finite, losses)):
            raise Unsuitable("the loss is not finite")
        if not ending.taken:
            raise Unsuitable("the scaler skipped all steps")

    def _predict(self, model: Any, batch: Batch) -> Any:
        import torch

        model.eval()
        with torch.no_grad(), autocast(self.mode.precision.autocast):
            output = model(**for_prediction(self.task, batch))
            logits = logits_of(self.task, output).float()
        self.figures[f"logits to {self.step}"] = logits.double().sum().item()
        if self.step == "predict" and not logits.isfinite().all():
            raise Unsuitable("what was trained predicts numbers that are not finite")
        return logits

    @contextmanager
    def _watching(self, model: Any) -> Iterator[None]:
        """Note the dtypes that layers return, where another quantizer decides them."""
        if self.mode.quantizer is None:
            yield
            return
        with returned_dtypes(model) as found:
            yield
        self.figures["dtypes"] = found

    def _expect(self, before: Any, after: Any) -> None:
        """Check that logits are what they were, as far as rounding allows."""
        distance = _distance(before, after)
        self.figures[f"distance after {self.step}"] = distance
        if not distance <= _MOST_DISTANCE[self.step]:
            raise OtherLogits("the logits are far from those before")

    def _generate(self, model: Any, batch: Batch) -> None:
        import torch

        model.eval()
        # Without autocast, images must have the dtype of the model, as processors are told.
        dtype = model.dtype
        given = {
            name: value.to(dtype) if value.is_floating_point() else value
            for name, value in beginning(model, batch).items()
        }
        with torch.no_grad():
            words = model.generate(**given, max_new_tokens=_NEW_WORDS, do_sample=False)
        self.figures["words"] = [  # or sounds, of which there are none yet after a few words
            None if row is None else row[..., -_NEW_WORDS:].tolist() for row in words
        ]


def _scale(trainer: Any) -> float:
    scaler = trainer.accelerator.scaler
    return float(scaler.get_scale()) if scaler else 1.0


def _trained(model: Any) -> Iterator[tuple[str, Any]]:
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            yield name, parameter


def _sums(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names of layers with LoRA in a packed base, and the weights of merged ones."""
    for name, layer in model.get_base_model().named_modules():
        base = layer.get_base_layer() if hasattr(layer, "get_base_layer") else None
        if base is not None and (values := packed_values(base)) is not None:
            deltas = (layer.get_delta_weight(adapter) for adapter in layer.active_adapters)
            yield name, sum((delta.detach().float() for delta in deltas), start=values)


def _are_rounded(sums: Mapping[str, Any], merged: Any) -> bool:
    """Tell whether merged weights are those sums, about as near as nf4 comes to them.

    Rounding alone moves the logits of some tiny models by half of their size.
    """
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    layers = dict(merged.named_modules())
    for name, exact in sums.items():
        values = packed_values(layers[name])
        rounded = dequantize_4bit(*quantize_4bit(exact, quant_type="nf4"))
        nearest = _distance(exact, rounded)
        if values is None or not _distance(exact, values) <= _MORE_THAN_ROUNDING * nearest:
            return False
    return bool(sums)


def _expect_same_weights(trained: Mapping[str, Any], loaded: Mapping[str, Any]) -> None:
    """Raise LostWeights if what was loaded again is not what was trained, but for rounding.

    Logits alone do not show it: two steps move them little, and so does the loss of a few adapters.
    """
    lost = [
        name
        for name, value in trained.items()
        if name in loaded
        and loaded[name].shape == value.shape
        and not _distance(_numbers(value), _numbers(loaded[name])) <= _ROUNDING
    ]
    if lost:
        raise LostWeights(
            f"{len(lost)} of {len(trained)} trained weights are others, such as {lost[0]}"
        )


def _numbers(weight: Any) -> Any:
    """Return a weight in float32, with numbers in place of what is none."""
    return weight.detach().float().nan_to_num()


def _distance(before: Any, after: Any) -> float:
    """Return how far logits are from others, relative to the size of those."""
    if before.dim() > 2:  # virtual tokens precede the words in one of them
        length = min(before.shape[1], after.shape[1])
        before, after = before[:, -length:], after[:, -length:]
    size = float(before.norm())
    return float((after - before).norm()) / size if size else 0.0


def _is_finite(number: float) -> bool:
    return number - number == 0
