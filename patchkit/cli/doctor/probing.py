"""List torch's devices, and test whether bitsandbytes works.

`python -m patchkit.cli.doctor.probing` is a process of its own: importing torch takes
seconds and may hang, print, or end the process if its native libraries do not fit.
Each line of standard output is one answer in JSON.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ... import children

_SIZE = 8


def main() -> None:
    output = children.take_standard_output()

    def send(**answer: Any) -> None:
        children.write_answer(output, answer)

    try:
        import torch
    except BaseException as error:
        send(torch={"error": _line(error)})
        return
    send(torch=_build(torch))
    send(devices=[_device(torch, device) for device in _devices(torch)])
    from ...environment import installed_version

    if installed_version("torchvision"):
        send(torchvision=_torchvision())
    if installed_version("bitsandbytes"):
        send(bitsandbytes=_bitsandbytes(torch))


def _build(torch: Any) -> dict[str, Any]:
    return {
        "version": str(torch.__version__),
        "cuda": torch.version.cuda,
        "rocm": torch.version.hip,
        "no_cuda_because": _why_no_cuda(torch),
    }


def _why_no_cuda(torch: Any) -> str:
    """Return why a build for CUDA finds no GPU; empty if it finds one, or is not for CUDA."""
    if not (torch.version.cuda or torch.version.hip) or torch.cuda.is_available():
        return ""
    try:
        torch.cuda.init()
    except Exception as error:
        return _line(error)
    return ""


def _devices(torch: Any) -> list[Any]:
    from ...inspection.hardware import default_device

    kind = default_device().type
    count = {"cuda": torch.cuda.device_count}.get(kind, lambda: 1)()
    if count == 1 and kind != "cuda":
        return [torch.device(kind)]
    return [torch.device(kind, index) for index in range(count)]


def _device(torch: Any, device: Any) -> dict[str, Any]:
    from ...inspection.hardware import probe

    hardware = probe(device)
    capability, name = hardware.capability, hardware.name
    if device.type == "cpu":
        name = name or str(_capabilities_of_cpu(torch).get("cpu_name", ""))
    return {
        "device": str(device),
        "name": name,
        "capability": capability and "{}.{}".format(*capability),
        "memory": _memory(torch, device),
        "float16": _support(torch, device, "float16", hardware.bfloat16),
        "bfloat16": _support(torch, device, "bfloat16", hardware.bfloat16),
    }


def _support(torch: Any, device: Any, dtype: str, native_bfloat16: bool) -> str:
    """Return `native`, `emulated`, `works`, or the failure of a product of two matrices."""
    try:
        ones = torch.ones(_SIZE, _SIZE, dtype=getattr(torch, dtype), device=device)
        if (ones @ ones).float().sum().item() != _SIZE**3:
            return "a product of two matrices is wrong"
    except Exception as error:
        return _line(error)
    if device.type == "cpu":
        return _native_on_cpu(torch, dtype)
    if device.type != "cuda":
        return "works"
    return "emulated" if dtype == "bfloat16" and not native_bfloat16 else "native"


def _native_on_cpu(torch: Any, dtype: str) -> str:
    """Return `native` if the CPU has instructions for the dtype, which is slow otherwise."""
    can = _capabilities_of_cpu(torch)
    if can.get("architecture") not in ("x86_64", "amd64"):
        return "works"
    short = {"float16": "fp16", "bfloat16": "bf16"}[dtype]
    return "native" if can.get(f"avx512_{short}") or can.get(f"amx_{short}") else "emulated"


def _capabilities_of_cpu(torch: Any) -> dict[str, Any]:
    ask = getattr(torch.cpu, "get_capabilities", dict)  # older releases cannot tell
    capabilities: dict[str, Any] = ask()
    return capabilities


def _memory(torch: Any, device: Any) -> int | None:
    if device.type != "cuda":
        return None
    return int(torch.cuda.get_device_properties(device).total_memory)


def _torchvision() -> dict[str, str]:
    try:
        import_module("torchvision")
    except BaseException as error:
        return {"error": _line(error)}
    return {"error": ""}


def _bitsandbytes(torch: Any) -> dict[str, Any]:
    """Tell whether its native library is loaded, and whether a 4-bit layer computes."""
    from ...inspection.hardware import default_device

    device = str(default_device())
    try:
        import bitsandbytes
        from bitsandbytes import cextension
    except BaseException as error:
        return {"device": device, "native_library": None, "four_bit": "", "error": _line(error)}
    library = getattr(cextension, "lib", None)
    # What stands in for a library that does not load raises when it is called.
    loaded = library is not None and "Error" not in type(library).__name__
    try:
        layer = bitsandbytes.nn.Linear4bit(64, 64, bias=False, compute_dtype=torch.float32)
        out = layer.to(device)(torch.ones(1, 64, device=device))
        four_bit = "works" if out.isfinite().all() else "a 4-bit layer does not give finite numbers"
    except BaseException as error:
        four_bit = _line(error)
    return {"device": device, "native_library": loaded, "four_bit": four_bit, "error": ""}


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300].removesuffix(":")


if __name__ == "__main__":
    main()
