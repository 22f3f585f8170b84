"""A model in half precision while it generates, and trainers that generate in batches on a CPU."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from patchkit.precision.borrowed import restore_dtypes
from patchkit.precision.parameters import is_plain_float
from patchkit.precision.requested import training_dtype

if TYPE_CHECKING:
    import torch

    from patchkit.lab import train

# Left alone, the cache takes nine tenths of the memory that there is.
_CACHE = {"num_blocks": 64, "max_batch_tokens": 64}


@contextmanager
def half_precision_for_generation(model: torch.nn.Module, args: Any) -> Iterator[None]:
    """Give all parameters the dtype of the training for the length of a `with` block.

    Batched generation takes the dtype of its cache from the model and runs in a thread of its
    own, which autocast does not reach: the parameters themselves must have it. Afterwards each
    parameter holds the very tensor that it held before, bit for bit. Buffers, such as the
    frequencies of rotary embeddings, keep their dtype throughout, and so do gradients.

    Costs two bytes for each parameter that is cast, while generation lasts.

    Args:
        model: the model, not wrapped.
        args: the trainer's arguments; float32 training casts nothing.
    """
    import torch

    dtype = {"float16": torch.float16, "bfloat16": torch.bfloat16}.get(training_dtype(args) or "")
    if dtype is None:
        yield
        return
    with restore_dtypes(model):
        _cast(model, dtype)
        yield


def _cast(model: torch.nn.Module, dtype: torch.dtype) -> None:
    for parameter in model.parameters():
        if is_plain_float(parameter) and parameter.dtype != dtype:
            parameter.data = parameter.data.to(dtype)


def train_with_batched_generation(trainer: str, **options: Any) -> train.TrainingResult:
    """Train three steps of LoRA on an unquantized base, with batched generation.

    It is that of Transformers, save where that gives no answers: what trainers do to the model
    before shows all the same.

    Args:
        trainer: `grpo`, `rloo` or `online_dpo`.
        **options: as for `train.train`.
    """
    from patchkit.authoring import train_in_temporary_folder

    return train_in_temporary_folder(
        trainer, quantization="none", args=_arguments(trainer), **options
    )


def _arguments(trainer: str) -> dict[str, Any]:
    import transformers

    from patchkit.lab import trainers

    _, config = trainers.find(trainer).classes()
    fields = {field.name for field in dataclasses.fields(config)}
    if "use_transformers_continuous_batching" in fields:
        return {
            "use_transformers_continuous_batching": True,
            "transformers_continuous_batching_config": {**_CACHE, "use_cuda_graph": False},
        }
    _answer_for_failed_batches()
    if not hasattr(transformers, "ContinuousBatchingConfig"):
        _report_cpu_memory()
        return {"use_transformers_paged": True, "generation_kwargs": dict(_CACHE)}
    _default_to_small_caches()
    return {"use_transformers_paged": True}


def _report_cpu_memory() -> None:
    """Report memory: earlier Transformers find none on a CPU, and fail to subtract from it."""
    import torch

    try:
        from transformers.generation.continuous_batching import cache
    except ImportError:  # a single module until Transformers 4.56, which counts no memory
        return
    if not torch.cuda.is_available() and hasattr(cache, "get_device_and_memory_breakdown"):
        cache.get_device_and_memory_breakdown = lambda: (torch.device("cpu"), 2**33, 0, 0)


def _answer_for_failed_batches() -> None:
    """Answer with one or two last tokens of each prompt where batched generation gives no answers.

    Its thread dies on a CPU with Transformers 4.54 to 4.56 and 5.3, and only logs why. Answers to
    one prompt differ, since equal rewards train nothing.
    """
    import transformers

    generate = transformers.GenerationMixin.generate_batch

    def generate_batch(self: Any, inputs: list[list[int]], *args: Any, **kwargs: Any) -> Any:
        try:
            answers = generate(self, inputs, *args, **kwargs)
        except (AttributeError, RuntimeError, TypeError):
            answers = {}
        if len(answers) == len(inputs):
            return answers
        return {
            str(number): SimpleNamespace(generated_tokens=tokens[-1 - number % 2 :])
            for number, tokens in enumerate(inputs)
        }

    transformers.GenerationMixin.generate_batch = generate_batch


def _default_to_small_caches() -> None:
    """Change the default for releases of TRL that take no argument for the cache."""
    import transformers

    config = transformers.ContinuousBatchingConfig
    init = config.__init__

    def small(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{**_CACHE, "use_cuda_graph": False, **kwargs})

    config.__init__ = small
