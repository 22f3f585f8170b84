"""Loading models and feature extractors: old keywords, the dtype, the device map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..changes import Behaviour
from ..errors import LegacyError
from ..uses import calling_package
from ..wording import release
from .call import OldCall

_NAMES = ("dtype", "torch_dtype")
_MAP = "hf_device_map"
_REMEMBERED = "_patchkit_device_map"
_SHARED_OUT = frozenset({"auto", "balanced", "balanced_low_0", "sequential"})
_CHECKPOINTS = "gradient_checkpointing"
_UNRECOGNIZED = "Unrecognized feature extractor"
_OF_DECODER = "decoder_"
_DECODERS = ("decoder_config", "decoder_model")
_FLAGS = ("is_decoder", "add_cross_attention")
_TAKEN_ALONG = ("bnb_4bit_", "llm_int8_")
"""How keywords begin that belonged to `load_in_4bit` and `load_in_8bit`."""


def give_dtype(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load a model in the dtype of the release that the script was written for.

    If none is named, print a line if the model is not in float32, which was the default.
    """
    given = {**call.arguments, **call.unknown}
    if calling_package() == "transformers" or any(given.get(name) is not None for name in _NAMES):
        return proceed()
    quantized = given.get("quantization_config") is not None
    if call.written_for is not None:
        if call.written_for.precedes(row.gone):
            for name in _NAMES:
                call.unknown.pop(name, None)
            # Layers that are not quantized were in float16.
            call.unknown["dtype"] = _dtype("float16" if quantized else "float32")
        return proceed()
    result = proceed()
    model = result[0] if isinstance(result, tuple) else result
    loaded = getattr(model, "dtype", None)
    was = "float16" if quantized else "float32"
    if loaded is not None and loaded.is_floating_point and loaded != _dtype(was):
        what = "what is not quantized" if quantized else "the model"
        call.tell(
            row,
            call.name,
            f"{call.name} without dtype= loads {what} in {str(loaded).removeprefix('torch.')}, as "
            f"the checkpoint has it, and did in {was} until {release(row.gone)}; write "
            f"dtype=torch.{was} to keep that",
        )
    return result


def _dtype(name: str) -> Any:
    import torch

    return getattr(torch, name)


def as_decoder(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Configure a decoder as one, where the class of its configuration does not say what it is."""
    name = call.arguments.get("decoder_pretrained_model_name_or_path")
    if name is None or not call.unknown.keys().isdisjoint(_DECODERS):
        return proceed()
    from transformers import AutoConfig

    given = {each: value for each, value in call.unknown.items() if each.startswith(_OF_DECODER)}
    settings = {each.removeprefix(_OF_DECODER): value for each, value in given.items()}
    config, rest = AutoConfig.from_pretrained(name, **settings, return_unused_kwargs=True)
    if not all(hasattr(config, flag) for flag in _FLAGS):
        for flag in _FLAGS:
            setattr(config, flag, True)
        for each in given:
            if each.removeprefix(_OF_DECODER) not in rest:
                del call.unknown[each]
        call.unknown["decoder_config"] = config
        old = f"{call.name} with a decoder of {type(config).__name__}"
        call.fix(row, old, f"give decoder_config=, with {' and '.join(_FLAGS)} set to True")
    return proceed()


def load_reference(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load a reference model that is named, as trainers did."""
    named = call.arguments.get("ref_model")
    if isinstance(named, str):
        from transformers import AutoModelForCausalLM

        settings = getattr(call.arguments.get("args"), "ref_model_init_kwargs", None) or {}
        call.arguments["ref_model"] = AutoModelForCausalLM.from_pretrained(named, **settings)
        old = f"{call.name}(ref_model={named!r})"
        call.fix(row, old, "load it: ref_model=AutoModelForCausalLM.from_pretrained(…)")
    return proceed()


def quantized(switch: str, wanted: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return `quantization_config` for `load_in_4bit` or `load_in_8bit`."""
    given = call.unknown.get("quantization_config", call.arguments.get("quantization_config"))
    if given is not None:
        if wanted and not _value(given, switch):
            raise LegacyError(
                f"The quantization_config that is given, too, does not have {switch}=True; set it "
                "only there."
            )
        return {}  # scripts gave it in both places
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


def flash_attention(wanted: bool | None, call: OldCall) -> Mapping[str, Any]:
    """Return `attn_implementation` for `use_flash_attention_2`."""
    return {"attn_implementation": "flash_attention_2"} if wanted else {}


def checkpoint_gradients(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load a model, and let it checkpoint gradients, which its configuration told it to do."""
    if _CHECKPOINTS not in call.unknown:
        return proceed()
    wanted = call.unknown.pop(_CHECKPOINTS)
    result = proceed()
    if wanted:
        (result[0] if isinstance(result, tuple) else result).gradient_checkpointing_enable()
    call.fix(row, f"{call.name}({_CHECKPOINTS}=)", f"call {_CHECKPOINTS}_enable() of the model")
    return result


def remember_device(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load a model, and remember the device that the script asked for."""
    asked = {**call.arguments, **call.unknown}.get("device_map")
    result = proceed()
    if asked is None or calling_package() == "transformers":
        return result
    model = result[0] if isinstance(result, tuple) else result
    if _MAP not in vars(model):
        setattr(model, _REMEMBERED, _as_map(asked, model))
    return result


def device_map(model: Any) -> dict[str, Any]:
    """Return the device map of a model.

    Raises:
        AttributeError: it was loaded without one, and had none.
    """
    if _REMEMBERED not in vars(model):
        raise AttributeError(f"{type(model).__name__!r} object has no attribute {_MAP!r}")
    remembered: dict[str, Any] = vars(model)[_REMEMBERED]
    return remembered


def _as_map(asked: Any, model: Any) -> dict[str, Any]:
    import torch

    if isinstance(asked, dict):
        return dict(asked)
    if not isinstance(asked, str):
        return {"": asked}
    if asked not in _SHARED_OUT:
        return {"": torch.device(asked)}
    device = model.device
    return {"": device.type if device.index is None else device.index}


def process_images(call: OldCall, row: Behaviour, proceed: Callable[[], Any]) -> Any:
    """Load an image processor where a checkpoint has no feature extractor."""
    try:
        return proceed()
    except ValueError as error:
        if not str(error).startswith(_UNRECOGNIZED):
            raise
    from transformers import AutoImageProcessor

    processor = AutoImageProcessor.from_pretrained(**call.arguments, **call.unknown)
    call.fix(row, f"{call.name} of a model for images", "write AutoImageProcessor.from_pretrained")
    return processor
