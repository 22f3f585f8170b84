"""Quantizers other than bitsandbytes: what each needs, and how a tiny model is quantized by it.

Some quantize while a model is loaded. The others load only checkpoints of their format, which
`quantizing` writes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from patchkit.environment import installed_version
from patchkit.lab import tiny

from . import quantizing

IMPORTS = f"{__name__}:import_installed"


@dataclass(frozen=True)
class Quantizer:
    """One way to quantize.

    Args:
        name: the second part of the names of its modes.
        distributions: what must be installed.
        modules: what is imported before any model is loaded.
        config: returns the argument `quantization_config` of `from_pretrained`, or None.
        write: saves a quantized checkpoint: called with the folder of a plain one, and a new one.
        convert: quantizes a loaded model in place; called with it.
        types: the only model types that have its format; any if empty.
        plain: whether the loaded model has plain weights, which can be trained in full.
    """

    name: str
    distributions: tuple[str, ...]
    modules: tuple[str, ...]
    config: Callable[[], Any] = lambda: None
    write: Callable[[Path, Path], None] | None = None
    convert: Callable[[Any], None] | None = None
    types: tuple[str, ...] = ()
    plain: bool = False

    def obstacle(self, model_type: str) -> str:
        """Return why a model type cannot be tried here; empty if it can."""
        missing = [name for name in self.distributions if installed_version(name) is None]
        if missing:
            return f"not installed: {', '.join(missing)}"
        if self.types and model_type not in self.types:
            return f"no such checkpoints: only {', '.join(self.types)} has this format"
        return ""

    def load(self, loader: Any, plain: Path, options: dict[str, Any]) -> Any:
        """Load a quantized model.

        Args:
            loader: a class with `from_pretrained`.
            plain: the folder of a plain checkpoint. A quantized one is kept beside it.
            options: other arguments of `from_pretrained`.
        """
        folder = plain if self.write is None else self._written(plain)
        config = self.config()
        if config is not None:
            options = {**options, "quantization_config": config}
        model = loader.from_pretrained(folder, **options)
        if self.convert is not None:
            self.convert(model)
        return model

    def _written(self, plain: Path) -> Path:
        """Return the folder of the quantized checkpoint, which is written once."""
        assert self.write is not None
        folder = plain.with_name(f"{plain.name}-{self.name}")
        if not folder.exists():
            unfinished = folder.with_name(f"{folder.name}-unfinished")
            self.write(plain, unfinished)
            unfinished.rename(folder)
        return folder


def _torchao(kind: str, **options: Any) -> Any:
    import torchao.quantization
    import transformers

    return transformers.TorchAoConfig(getattr(torchao.quantization, kind)(**options))


def _quanto(weights: str) -> Any:
    import transformers

    return transformers.QuantoConfig(weights=weights)


def _dequantized(name: str) -> Any:
    import transformers

    return getattr(transformers, name)(dequantize=True)


_TORCHAO = (("torchao",), ("torchao.quantization", "peft.tuners.lora.torchao"))
_QUANTO = (("optimum-quanto",), ("optimum.quanto",))
_GPTQMODEL = (("auto-round", "gptqmodel", "optimum"), ("auto_round", "gptqmodel", "optimum.gptq"))
_COMPRESSED = (("compressed-tensors",), ("compressed_tensors.compressors",))
QUANTIZERS = {
    quantizer.name: quantizer
    for quantizer in (
        Quantizer("torchao-int8", *_TORCHAO, partial(_torchao, "Int8WeightOnlyConfig")),
        Quantizer(
            "torchao-int8-dynamic",
            *_TORCHAO,
            partial(_torchao, "Int8DynamicActivationInt8WeightConfig"),
        ),
        Quantizer("torchao-float8", *_TORCHAO, partial(_torchao, "Float8WeightOnlyConfig")),
        Quantizer(
            "torchao-int4", *_TORCHAO, partial(_torchao, "Int4WeightOnlyConfig", group_size=32)
        ),
        Quantizer("quanto-int8", *_QUANTO, partial(_quanto, "int8")),
        Quantizer("quanto-int4", *_QUANTO, partial(_quanto, "int4")),
        Quantizer("quanto-float8", *_QUANTO, partial(_quanto, "float8")),
        Quantizer("hqq-4bit", ("hqq",), ("hqq.models.hf.base",), convert=quantizing.by_hqq),
        Quantizer("gptq", *_GPTQMODEL, write=partial(quantizing.by_auto_round, "auto_gptq")),
        Quantizer("awq", *_GPTQMODEL, write=partial(quantizing.by_auto_round, "auto_awq")),
        Quantizer(
            "auto-round",
            ("auto-round",),
            ("auto_round", "auto_round.inference.convert_model"),
            write=partial(quantizing.by_auto_round, "auto_round"),
        ),
        Quantizer("compressed-tensors-int8", *_COMPRESSED, write=quantizing.to_int8_tensors),
        Quantizer("compressed-tensors-int4", *_COMPRESSED, write=quantizing.to_packed_tensors),
        Quantizer(
            "compressed-tensors-int4-dequantized",
            *_COMPRESSED,
            partial(_dequantized, "CompressedTensorsConfig"),
            write=quantizing.to_packed_tensors,
            plain=True,
        ),
        Quantizer(
            "mxfp4-dequantized",
            (),
            ("transformers.integrations.mxfp4",),
            partial(_dequantized, "Mxfp4Config"),
            write=quantizing.to_mxfp4,
            types=("gpt_oss",),
            plain=True,
        ),
    )
}


def import_installed() -> None:
    """Import what the installed quantizers need, for the processes that are forked later."""
    tiny.go_offline()
    for module in dict.fromkeys(
        name for quantizer in QUANTIZERS.values() for name in quantizer.modules
    ):
        with suppress(Exception):  # the cell that needs it will say so
            importlib.import_module(module)


def versions() -> dict[str, str | None]:
    """Return the installed versions of all distributions; None for what is missing."""
    names = dict.fromkeys(
        name for quantizer in QUANTIZERS.values() for name in quantizer.distributions
    )
    return {name: installed_version(name) for name in names}


def linear_layers(loader: Any, config: Any) -> list[str]:
    """Return the names of a model's linear layers, its head left out, as adapters can name them.

    PEFT's `all-linear` knows the layers of few quantizers.

    Args:
        loader: a class with `from_config`.
        config: the model's configuration.
    """
    import copy

    import torch

    config = copy.deepcopy(config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.device("meta"):
        model = loader.from_config(config)
    return sorted(
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and module is not model.get_output_embeddings()
    )
