"""Where models are put."""

from __future__ import annotations


def get_kbit_device_map() -> dict[str, int] | None:
    """Return a device map that puts a quantized model on this process's accelerator.

    Returns:
        None without a CUDA or XPU device.
    """
    import torch
    from accelerate import PartialState
    from transformers.utils import is_torch_xpu_available

    if torch.cuda.is_available() or is_torch_xpu_available():
        return {"": PartialState().local_process_index}
    return None


def is_torch_tpu_available(check_device: bool = True) -> bool:
    """Tell whether PyTorch runs on a TPU.

    Args:
        check_device: look for the device, too, and not only for the package.
    """
    from transformers.utils import is_torch_xla_available

    found: bool = is_torch_xla_available(check_is_tpu=check_device)
    return found
