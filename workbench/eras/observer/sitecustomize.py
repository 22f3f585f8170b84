"""Watch each training of a script, and let it run on a CPU, on releases of any year.

Each interpreter of the script imports this as it starts. It writes one JSON line for a first batch
and for each loss into a file of its own, and ends a training after a few steps. It knows nothing
of patchkit, and changes no name, signature or argument that a script can meet. Chance is seeded.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from workbench.sweep.observing import ObservingFinder, seed, seed_adapters, write

FOLDER = os.environ.get("LEGACY_OBSERVED", "")
STEPS = int(os.environ.get("LEGACY_STEPS", "3"))
LONGEST = 512
"""Token ids that are kept of one row."""


def ids_of(inputs: Any) -> dict[str, Any]:
    """Return the token ids of a batch without their padding, and the labels that count."""
    if not hasattr(inputs, "items"):
        return {}
    found = {}
    for name, values in inputs.items():
        if getattr(values, "ndim", 0) != 2:
            continue
        if "input_ids" in name:
            mask = inputs.get(name.replace("input_ids", "attention_mask"))
        elif name in ("labels", "prompt_ids", "completion_ids"):
            mask = inputs.get(name.replace("_ids", "_mask"))
        else:
            continue
        has_mask = name != "labels" and getattr(mask, "shape", None) == values.shape
        kept = mask.bool() if has_mask else values >= 0
        found[name] = [row[keep].tolist()[:LONGEST] for row, keep in zip(values, kept, strict=True)]
    return found


def watch_steps(trainer: Any) -> None:
    """Write the ids of the first batch and the loss of each step."""
    original = trainer.training_step

    @functools.wraps(original)
    def training_step(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        compute_loss = self.compute_loss
        seen: list[dict[str, Any]] = [] if not hasattr(self, "_observed") else [{}]

        @functools.wraps(compute_loss)
        def first_loss(model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(ids_of(inputs))
            return compute_loss(model, inputs, *args, **kwargs)

        if not seen:
            self._observed = True
            self.compute_loss = first_loss
        try:
            loss = original(self, model, inputs, *args, **kwargs)
        finally:
            self.__dict__.pop("compute_loss", None)
        if seen and seen[0]:
            write(FOLDER, batch=seen[0])
        write(FOLDER, step=self.state.global_step, loss=float(loss))
        return loss

    trainer.training_step = training_step
    watch_logs(trainer)


def watch_logs(trainer: Any) -> None:
    """Write the losses that a trainer logs: some have a step of their own."""
    original = trainer.log

    @functools.wraps(original)
    def log(self: Any, logs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if "loss" in logs:
            write(FOLDER, logged=float(logs["loss"]))
        return original(self, logs, *args, **kwargs)

    trainer.log = log


def end_early(flow: Any) -> None:
    """End a training after a few steps."""
    original = flow.on_step_end

    @functools.wraps(original)
    def on_step_end(self: Any, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        control = original(self, args, state, control, **kwargs)
        if state.global_step >= STEPS:
            control.should_training_stop = True
        return control

    flow.on_step_end = on_step_end


def without_gpu(arguments: Any) -> None:
    """Train on the CPU; float16, which older releases refuse there, becomes float32."""
    original = arguments.__post_init__

    @functools.wraps(original)
    def post_init(self: Any) -> None:
        self.use_cpu = True
        self.fp16 = False
        original(self)

    arguments.__post_init__ = post_init


def quantize_without_gpu(quantizer: Any) -> None:
    """Let releases quantize on a CPU that ask for a GPU first; bitsandbytes needs none."""
    import torch

    if not torch.cuda.is_available():
        quantizer.validate_environment = lambda self, *args, **kwargs: None
        quantizer.update_device_map = lambda self, device_map: (
            {"": "cpu"} if device_map is None else device_map
        )


def bitsandbytes_without_gpu(module: Any) -> None:
    """Let Transformers 4 see that bitsandbytes is there: its first releases look for a GPU, too."""
    installed = getattr(module, "_bitsandbytes_available", None)
    if installed is not None:
        module.is_bitsandbytes_available = lambda *args, **kwargs: bool(installed)


def quantize_in_place_of_a_gpu(module: Any, name: str) -> None:
    import transformers

    if int(transformers.__version__.split(".")[0]) < 5:
        quantize_without_gpu(getattr(module, name))


def prepare_without_gpu(accelerator: Any) -> None:
    """Let Accelerate before 1.0 train a quantized model that lies on the CPU."""
    import accelerate

    if int(accelerate.__version__.split(".")[0]) >= 1:
        return
    original = accelerator.prepare_model

    @functools.wraps(original)
    def prepare_model(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        maps = [
            (module, module.__dict__.pop("hf_device_map"))
            for module in model.modules()
            if "hf_device_map" in module.__dict__
        ]
        try:
            return original(self, model, *args, **kwargs)
        finally:
            for module, device_map in maps:
                module.hf_device_map = device_map

    accelerator.prepare_model = prepare_model


def name_known_to_old_peft(state: Any) -> None:
    """Give bitsandbytes' 8-bit state an attribute back that PEFT copies and nobody uses."""
    if not hasattr(state, "memory_efficient_backward"):
        state.memory_efficient_backward = False


WATCHED = {
    "numpy": seed,
    "torch": seed,
    "peft.peft_model": lambda module: seed_adapters(module.PeftModel),
    "accelerate.accelerator": lambda module: prepare_without_gpu(module.Accelerator),
    "bitsandbytes.autograd._functions": lambda module: name_known_to_old_peft(module.MatmulLtState),
    "transformers.trainer": lambda module: watch_steps(module.Trainer),
    "transformers.trainer_callback": lambda module: end_early(module.DefaultFlowCallback),
    "transformers.training_args": lambda module: without_gpu(module.TrainingArguments),
    "transformers.utils.import_utils": bitsandbytes_without_gpu,
    "transformers.quantizers.quantizer_bnb_4bit": lambda module: quantize_in_place_of_a_gpu(
        module, "Bnb4BitHfQuantizer"
    ),
    "transformers.quantizers.quantizer_bnb_8bit": lambda module: quantize_in_place_of_a_gpu(
        module, "Bnb8BitHfQuantizer"
    ),
}


if FOLDER:
    sys.meta_path.insert(0, ObservingFinder(WATCHED))
