"""Whether packages are installed, by the functions that TRL and Transformers had for that."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec


def is_bitsandbytes_available() -> bool:
    """Tell whether bitsandbytes is installed, and PyTorch has a CUDA device."""
    import torch

    return find_spec("bitsandbytes") is not None and torch.cuda.is_available()


def _find(package: str) -> Callable[[], bool]:
    return lambda: find_spec(package) is not None


is_ccl_available = _find("oneccl_bindings_for_pytorch")
is_diffusers_available = _find("diffusers")
is_fastapi_available = _find("fastapi")
is_flash_attn_available = _find("flash_attn")
is_joblib_available = _find("joblib")
is_llm_blender_available = _find("llm_blender")
is_pil_available = _find("PIL")
is_pydantic_available = _find("pydantic")
is_rich_available = _find("rich")
is_safetensors_available = _find("safetensors")
is_torchvision_available = _find("torchvision")
is_uvicorn_available = _find("uvicorn")
is_vllm_ascend_available = _find("vllm_ascend")
is_wandb_available = _find("wandb")


def is_not_supported() -> bool:
    """Return False: Transformers no longer supports the package."""
    return False


def is_always_supported() -> bool:
    """Return True: each PyTorch that Transformers works with has it."""
    return True


def is_transformers_greater_than(current_version: str) -> bool:
    """Tell whether Transformers is newer than a version."""
    from packaging.version import Version

    return Version(version("transformers")) > Version(current_version)


def is_torch_tpu_available(check_device: bool = True) -> bool:
    """Tell whether PyTorch runs on a TPU; `check_device` looks for the device itself."""
    from transformers.utils import is_torch_xla_available

    found: bool = is_torch_xla_available(check_is_tpu=check_device)
    return found
