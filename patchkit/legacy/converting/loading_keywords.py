"""What old keywords of `from_pretrained` are today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import LegacyError
from .call import Call

_TAKEN_ALONG = ("bnb_4bit_", "llm_int8_")
"""How keywords begin that belonged to `load_in_4bit` and `load_in_8bit`."""
_SWITCHES = ("load_in_4bit", "load_in_8bit")


def in_8bit(wanted: bool | None, call: Call) -> Mapping[str, Any]:
    """Return `quantization_config` for `load_in_8bit`."""
    return _quantized("load_in_8bit", wanted, call)


def in_4bit(wanted: bool | None, call: Call) -> Mapping[str, Any]:
    """Return `quantization_config` for `load_in_4bit`."""
    return _quantized("load_in_4bit", wanted, call)


def _quantized(switch: str, wanted: bool | None, call: Call) -> Mapping[str, Any]:
    given = call.unknown.get("quantization_config", call.arguments.get("quantization_config"))
    if given is not None:
        if wanted and not _value(given, switch):
            raise LegacyError(
                f"The quantization_config that is given, too, does not have {switch}=True; say it "
                "there alone."
            )
        return {}  # scripts said it in both places
    settings = {
        name: call.unknown.pop(name) for name in list(call.unknown) if name.startswith(_TAKEN_ALONG)
    }
    if not wanted:
        return {}
    made = call.make("transformers.BitsAndBytesConfig", None, **{switch: True}, **settings)
    return {"quantization_config": made}


def _value(configuration: Any, name: str) -> Any:
    if isinstance(configuration, Mapping):
        return configuration.get(name)
    return getattr(configuration, name, None)


def flash_attention(wanted: bool | None, call: Call) -> Mapping[str, Any]:
    """Return `attn_implementation` for `use_flash_attention_2`."""
    return {"attn_implementation": "flash_attention_2"} if wanted else {}
