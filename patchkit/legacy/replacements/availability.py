"""Whether packages are there, as TRL and Transformers were asked for it."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec


def is_bitsandbytes_available() -> bool:
    """Tell whether bitsandbytes is there, and a CUDA device."""
    import torch

    return find_spec("bitsandbytes") is not None and torch.cuda.is_available()


def is_diffusers_available() -> bool:
    return find_spec("diffusers") is not None


def is_fastapi_available() -> bool:
    return find_spec("fastapi") is not None


def is_flash_attn_available() -> bool:
    return find_spec("flash_attn") is not None


def is_joblib_available() -> bool:
    return find_spec("joblib") is not None


def is_llm_blender_available() -> bool:
    return find_spec("llm_blender") is not None


def is_pil_available() -> bool:
    return find_spec("PIL") is not None


def is_pydantic_available() -> bool:
    return find_spec("pydantic") is not None


def is_rich_available() -> bool:
    return find_spec("rich") is not None


def is_safetensors_available() -> bool:
    return find_spec("safetensors") is not None


def is_torchvision_available() -> bool:
    return find_spec("torchvision") is not None


def is_uvicorn_available() -> bool:
    return find_spec("uvicorn") is not None


def is_vllm_ascend_available() -> bool:
    return find_spec("vllm_ascend") is not None


def is_wandb_available() -> bool:
    return find_spec("wandb") is not None


def is_not_supported() -> bool:
    """Tell that Transformers has no support for a package any more: False."""
    return False


def is_always_supported() -> bool:
    """Tell that each PyTorch that Transformers works with has something: True."""
    return True


def is_transformers_greater_than(current_version: str) -> bool:
    """Tell whether Transformers is newer than a version."""
    from packaging.version import Version

    return Version(version("transformers")) > Version(current_version)
