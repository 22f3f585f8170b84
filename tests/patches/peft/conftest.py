"""Fixtures for PEFT's patches: tiny quantized models that are saved once, and a rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function of a dtype and options of `quantized.save` that returns the folder.

    What is not quantized lies beside it, as `plain-<dtype>`.
    """
    from patchkit.lab import quantized, tiny

    folder = tmp_path_factory.mktemp("models")
    made: dict[str, Path] = {}

    def save(dtype: str = "bfloat16", **options: Any) -> Path:
        name = "-".join([dtype, *(f"{option}={value}" for option, value in options.items())])
        if name not in made:
            plain = tiny.build_causal_lm(folder / f"plain-{dtype}", dtype=dtype)
            made[name] = quantized.save(plain, folder / name, dtype=dtype, **options)
        return made[name]

    return save


@pytest.fixture(scope="session")
def load(saved: Callable[..., Path]) -> Callable[..., Any]:
    """Return a function of bits and options of `quantized.save` that loads the bfloat16 model."""
    from patchkit.lab import quantized

    return lambda bits, **options: quantized.load(
        saved(bits=bits, **options), dtype="bfloat16"
    ).eval()


@pytest.fixture(scope="module")
def one_rank() -> Iterator[None]:
    from torch import distributed

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()
