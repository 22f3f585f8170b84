"""List versions that fail together, each measured beside versions that do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KnownPair:
    """Versions that do not work together.

    Args:
        libraries: distribution to PEP 440 range, as measured; all must hold.
        without: distributions that must be absent.
        happens: the failure as a user sees it, in one sentence without a full stop.
        do: commands, any of which fixes it.
        measured: the versions that were seen to fail, and those beside them that work.
    """

    libraries: Mapping[str, str]
    without: tuple[str, ...] = ()
    happens: str
    do: tuple[str, ...]
    measured: str


KNOWN: tuple[KnownPair, ...] = (
    KnownPair(
        libraries={"trl": ">=0.18.0,<=0.22.2", "transformers": ">=5.0.0"},
        happens="importing `DPOTrainer` raises `cannot import name "
        "'MODEL_FOR_VISION_2_SEQ_MAPPING_NAMES'`",
        do=("pip install 'trl>=0.29'", "pip install 'transformers<5'"),
        measured="TRL 0.18.0, 0.19.1 and 0.22.2 with Transformers 5.0.0 and 5.23.0, TRL 0.20.0 and "
        "0.21.0 with 5.23.0; TRL 0.24.0 with 5.0.0 does not raise it",
    ),
    KnownPair(
        libraries={"trl": ">=0.23.1,<=0.28.0", "transformers": ">=5.3.0"},
        happens="importing `DPOTrainer`, `GRPOTrainer` or `RLOOTrainer` raises `No module named` "
        "of a package that is not needed: mergekit, vllm or weave",
        do=("pip install 'trl>=0.29'", "pip install 'transformers<5'"),
        measured="TRL 0.23.1, 0.24.0, 0.25.1, 0.26.2, 0.27.2 and 0.28.0 with Transformers 5.23.0, "
        "TRL 0.28.0 with 5.3.0, 5.12.0 and 5.18.0; TRL 0.29.1 with 5.23.0 works, and so do "
        "0.28.0 with 5.2.0, and 0.23.1, 0.24.0, 0.26.2, 0.27.2 and 0.28.0 with 5.0.0",
    ),
    KnownPair(
        libraries={"trl": ">=0.19.1,<=1.14.0", "huggingface-hub": ">=2"},
        without=("requests",),
        happens="importing `GRPOTrainer` or `RLOOTrainer` raises `No module named 'requests'`, "
        "which neither TRL nor huggingface_hub 2 requires",
        do=("pip install requests",),
        measured="TRL 0.19.1, 0.24.0, 0.29.1, 1.0.0, 1.3.0, 1.9.2, 1.10.0, 1.12.0 and 1.14.0 "
        "with huggingface-hub 2.4.0; 0.29.1 and 1.0.0 work with requests, and 1.14.2, 1.15.0 and "
        "1.16.0 work without",
    ),
    KnownPair(
        libraries={"peft": ">=0.19.0", "torchao": "<0.16"},
        happens="putting LoRA on a model raises `Found an incompatible version of torchao`, "
        "though nothing is quantized by torchao",
        do=("pip install 'torchao>=0.16'", "pip uninstall torchao"),
        measured="PEFT 0.19.0, 0.19.1 and 0.21.2 with torchao 0.15.0, PEFT 0.21.2 with torchao "
        "0.12.0; with torchao 0.16.0 it works",
    ),
    KnownPair(
        libraries={"transformers": ">=5.0.0", "bitsandbytes": "<0.46.1"},
        happens="loading a model in 4 bits raises `Using bitsandbytes 4-bit quantization requires "
        "bitsandbytes`",
        do=("pip install -U bitsandbytes",),
        measured="bitsandbytes 0.45.5 with Transformers 5.0.0 and 5.23.0, 0.42.0, 0.43.3, 0.44.1 "
        "and 0.46.0 with 5.23.0; 0.46.1 works",
    ),
    KnownPair(
        libraries={"bitsandbytes": "<=0.45.0", "triton": ">=3.2.0"},
        happens="importing bitsandbytes raises `No module named 'triton.ops'`",
        do=("pip install -U bitsandbytes", "pip install 'triton<3.2'", "pip uninstall triton"),
        measured="bitsandbytes 0.43.3, 0.44.1 and 0.45.0 with triton 3.9.0, 0.45.0 with 3.4.0 and "
        "3.6.0; triton 3.2.0 and 3.3.0 lack that module, too, and on a CPU raise `0 active "
        "drivers` before; with 3.1.0 and without triton it works, and so does bitsandbytes 0.45.2",
    ),
    KnownPair(
        libraries={"nemo-automodel": ">=0.6.0", "torch": "<=2.9.1"},
        happens="importing NeMo Automodel's LoRA layers raises `cannot import name 'BlockMask'`",
        do=("pip install -U torch", "pip install 'nemo-automodel<0.6'"),
        measured="nemo-automodel 0.6.0 and 0.7.0 with torch 2.6.0 and 2.9.1; 0.5.0 works with "
        "both, and 0.7.0 with 2.13.0",
    ),
    KnownPair(
        libraries={"nemo-automodel": ">=0.1.0", "triton": ">=3.9.0"},
        happens="importing NeMo Automodel's LoRA layers raises `key contains names that are not "
        "kernel arguments`",
        do=("pip install 'triton<3.9'", "pip install 'torch<2.15'"),
        measured="nemo-automodel 0.1.0, 0.2.0, 0.3.0, 0.4.0, 0.5.0, 0.6.0 and 0.7.0 with triton "
        "3.9.0, which torch 2.15.0 requires; with 3.6.0, 3.7.1 and 3.8.0 it works",
    ),
)
