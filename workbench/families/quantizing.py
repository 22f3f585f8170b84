"""Quantize tiny models, and write the checkpoints that quantizers load."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from patchkit.lab import tiny

if TYPE_CHECKING:
    import torch

_GROUP = 32
"""Weights that share a scale: what MXFP4 prescribes, and a divisor of the widths of tiny models."""
_LARGEST = {4: 7, 8: 127}
"""Largest integer, by bits, where integers are symmetric."""
_FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The values of FP4 by their codes; a fourth bit is the sign."""
_LARGEST_EXPONENT = 2
"""That of the largest of them."""
_BIAS = 127
"""What is added to the exponents that are stored."""


def by_hqq(model: Any) -> None:
    """Quantize a model in place by HQQ's own function: Transformers 5 does not load HQQ."""
    from hqq.core.quantize import BaseQuantizeConfig
    from hqq.models.hf.base import AutoHQQHFModel

    AutoHQQHFModel.quantize_model(
        model,
        quant_config=BaseQuantizeConfig(nbits=4, group_size=16),
        compute_dtype=model.dtype,
        device="cpu",
    )


def by_auto_round(form: str, plain: Path, folder: Path) -> None:
    """Write a 4-bit checkpoint by AutoRound, which rounds to the nearest value: no calibration.

    Args:
        form: a format that AutoRound exports, such as `auto_gptq`.
        plain: the folder of a checkpoint.
        folder: a new folder.
    """
    import transformers
    from auto_round import AutoRound

    model = transformers.AutoModelForCausalLM.from_pretrained(
        plain, **{tiny.dtype_keyword(): "auto"}
    )
    words = tiny.build_causal_lm(folder.with_name(f"{folder.name}-words"))
    rounding = AutoRound(
        model,
        transformers.AutoTokenizer.from_pretrained(words),
        iters=0,
        bits=4,
        group_size=_GROUP,
        sym=True,
        device_map="cpu",
        disable_opt_rtn=True,
    )
    exported = folder.with_name(f"{folder.name}-exported")
    rounding.quantize_and_save(str(exported), format=form)
    found = next(path.parent for path in exported.rglob("config.json"))
    found.rename(folder)


def to_int8_tensors(plain: Path, folder: Path) -> None:
    """Write a checkpoint of compressed-tensors with 8-bit integers, one scale for each row."""
    _compress(plain, folder, bits=8, form="int-quantized")


def to_packed_tensors(plain: Path, folder: Path) -> None:
    """Write a checkpoint of compressed-tensors with packed 4-bit integers."""
    _compress(plain, folder, bits=4, form="pack-quantized")


def _compress(plain: Path, folder: Path, *, bits: int, form: str) -> None:
    import transformers
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import (
        QuantizationArgs,
        QuantizationConfig,
        QuantizationScheme,
        apply_quantization_config,
    )

    model = transformers.AutoModelForCausalLM.from_pretrained(
        plain, **{tiny.dtype_keyword(): "auto"}
    )
    grouped = {"strategy": "group", "group_size": _GROUP}
    weights = QuantizationArgs(
        num_bits=bits,
        type="int",
        symmetric=True,
        **(grouped if bits < 8 else {"strategy": "channel"}),
    )
    scheme = QuantizationScheme(targets=["Linear"], weights=weights, format=form)
    config = QuantizationConfig(
        config_groups={"group_0": scheme},
        ignore=["lm_head"],
        format=form,
        quantization_status="compressed",
    )
    apply_quantization_config(model, config)
    for module in model.modules():
        scale = getattr(module, "weight_scale", None)
        if scale is not None:
            groups = module.weight.float().reshape(*scale.shape, -1)
            scale.data.copy_(groups.abs().amax(-1) / _LARGEST[bits])
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    model.save_pretrained(folder)
    compressor.update_config(str(folder))


def to_mxfp4(plain: Path, folder: Path) -> None:
    """Write a checkpoint whose experts are in MXFP4, as those of GPT-OSS are."""
    import safetensors.torch

    folder.mkdir()
    shutil.copy(plain / "generation_config.json", folder)
    config = json.loads((plain / "config.json").read_text(encoding="utf-8"))
    config["quantization_config"] = {
        "quant_method": "mxfp4",
        "modules_to_not_convert": [
            "model.layers.*.self_attn",
            "model.layers.*.mlp.router",
            "model.embed_tokens",
            "lm_head",
        ],
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tensors = safetensors.torch.load_file(plain / "model.safetensors")
    safetensors.torch.save_file(
        _with_packed_experts(tensors), folder / "model.safetensors", {"format": "pt"}
    )


def _with_packed_experts(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    packed: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            packed[f"{name}_blocks"], packed[f"{name}_scales"] = _mxfp4(tensor)
        else:
            packed[name] = tensor
    return packed


def _mxfp4(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the packed values of experts' weights, and their exponents."""
    import torch

    rows = weight.float().transpose(1, 2)
    blocks = rows.reshape(*rows.shape[:2], -1, _GROUP)
    largest = blocks.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)
    exponents = largest.log2().floor() - _LARGEST_EXPONENT
    scaled = blocks / exponents.exp2()
    codes = (scaled.abs().unsqueeze(-1) - torch.tensor(_FP4)).abs().argmin(-1)
    codes = (codes + 8 * (scaled < 0)).to(torch.uint8)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    return packed.contiguous(), (exponents.squeeze(-1) + _BIAS).to(torch.uint8).contiguous()
