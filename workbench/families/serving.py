"""Prepare the processes that forks are made of."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from patchkit.lab import tiny
from patchkit.verification.fork_server import compile_conversions

from .quantizers import versions

_MODULES = (
    "accelerate",
    "bitsandbytes",
    "peft",
    "peft.tuners.lora.bnb",
    "peft.utils.transformers_weight_conversion",
    "torch.utils.serialization.config",
    "transformers.models.auto.modeling_auto",
    "transformers.models.llama.modeling_llama",
    "transformers.trainer",
    "transformers.generation.utils",
    "transformers.quantizers.quantizer_bnb_4bit",
    "transformers.quantizers.quantizer_bnb_8bit",
    "transformers.integrations.bitsandbytes",
)
_TRAINERS = ("datasets", "trl.trainer.dpo_trainer", "trl.trainer.reward_trainer")


def import_trainers() -> None:
    """Import what cells with TRL's trainers need."""
    _import(_TRAINERS)


def import_libraries() -> None:
    """Import what every cell needs."""
    _import()


def import_libraries_and_apply() -> None:
    """Import what every cell needs, and apply patchkit as `patchkit.apply()` does."""
    from patchkit.engine.choices import Choices
    from patchkit.engine.session import SESSION

    _import()
    SESSION.apply(Choices())


def environment() -> dict[str, Any]:
    """Return what the figures depend on: versions, Python and platform."""
    from patchkit.about import __version__
    from patchkit.environment import installed_version, python_and_platform

    names = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "trl")
    return {
        "versions": {"patchkit": __version__} | {name: installed_version(name) for name in names},
        **python_and_platform(),
    }


def environment_of_quantizers() -> dict[str, Any]:
    """Return what `environment` does, and the versions of the installed quantizers."""
    found = environment()
    found["versions"] |= {name: version for name, version in versions().items() if version}
    return found


def _import(modules: tuple[str, ...] = _MODULES) -> None:
    tiny.go_offline()
    for name in modules:
        with contextlib.suppress(Exception):  # the cell that needs it will say so
            importlib.import_module(name)
    compile_conversions()
    with contextlib.suppress(Exception):
        _leave_packing_for_cpus_out()


def _leave_packing_for_cpus_out() -> None:
    """Let 4-bit layers infer as they do on GPUs, and on CPUs without AVX512-BF16.

    With it bitsandbytes packs weights after training. That fails for sizes that tiny models have,
    and what it changes in a merge would hide what else does.
    """
    from bitsandbytes.nn import modules

    if hasattr(modules, "has_avx512bf16"):
        modules.has_avx512bf16 = lambda: False
