"""The machine: its device, its libraries, and whether they can be imported."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from .parts import Row, in_one_line, one_by_one

LIBRARIES = ("torch", "transformers", "peft", "accelerate", "datasets", "bitsandbytes", "trl")


def units() -> list[str]:
    return ["device", *LIBRARIES, "4-bit layer", "patchkit"]


def rows(units: list[str]) -> Iterator[Row]:
    return one_by_one(units, _measure)


def _measure(unit: str) -> Row:
    if unit == "device":
        return _device()
    if unit == "4-bit layer":
        return _four_bit_layer()
    if unit == "patchkit":
        return _patchkit()
    importlib.import_module({"trl": "trl.trainer.sft_trainer"}.get(unit, unit))
    return {"version": importlib.import_module(unit).__version__}


def _device() -> Row:
    import torch

    from patchkit.environment import python_and_platform

    row: dict[str, Any] = {"device": "cpu", **python_and_platform(), "cuda": torch.version.cuda}
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        row |= {
            "device": torch.cuda.get_device_name(),
            "gpus": torch.cuda.device_count(),
            "capability": f"{properties.major}.{properties.minor}",
            "memory_gib": round(properties.total_memory / 2**30, 1),
            "bf16": torch.cuda.is_bf16_supported(),
        }
    try:
        importlib.import_module("triton")
        row["triton"] = True
    except Exception as error:
        row["triton"] = in_one_line(error)
    return row


def _four_bit_layer() -> Row:
    """Run a 4-bit layer on the device: it needs the native library of bitsandbytes."""
    import bitsandbytes
    import torch

    from patchkit.lab.reproduce import device

    layer = bitsandbytes.nn.Linear4bit(64, 64, compute_dtype=torch.float16, quant_type="nf4")
    inputs = torch.ones(2, 64, dtype=torch.float16, device=device(), requires_grad=True)
    layer.to(device())(inputs).sum().backward()
    return {"library": type(bitsandbytes.cextension.lib).__name__}


def _patchkit() -> Row:
    import patchkit

    report = patchkit.report()
    return {
        "version": patchkit.__version__,
        "patches": {record["id"]: record["status"] for record in report.to_dict()["patches"]},
    }
