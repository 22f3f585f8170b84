"""Give a quantized checkpoint the dtype that `from_pretrained` was asked for."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from ..settings import DTYPES, requested_dtype
from .quant_state import packs_weight
from .threading_dtype import DtypeChanges

if TYPE_CHECKING:
    import torch

logger = logging.getLogger("patchkit")

_RECORD = "_patchkit_load_request"
_LOADING: ContextVar[LoadRequest | None] = ContextVar("patchkit_loading", default=None)


class LoadRequest(NamedTuple):
    """The dtypes in the arguments of `from_pretrained`, by name; None where there is none.

    Args:
        dtype: `dtype` or `torch_dtype`; None for "auto".
        compute_dtype: `bnb_4bit_compute_dtype` of the quantization configuration.
    """

    dtype: str | None = None
    compute_dtype: str | None = None

    @property
    def for_layers(self) -> str | None:
        """The dtype for 4-bit layers to compute in, by the order of precedence.

        `dtype=torch.float32` alone does not count here: TRL passes it where the user said nothing,
        and layers that compute in half precision between float32 norms are an ordinary set-up.
        """
        half = self.dtype if self.dtype != "float32" else None
        return requested_dtype() or self.compute_dtype or half

    @property
    def for_weights(self) -> str | None:
        """The dtype for all that is not quantized."""
        return self.dtype if self.dtype == "float32" else requested_dtype() or self.dtype


def read_request(arguments: Mapping[str, Any]) -> LoadRequest:
    """Read the dtypes that the keyword arguments of `from_pretrained` ask for.

    `BitsAndBytesConfig` turns a compute dtype that was not given into float32, so float32 in such
    an object does not count; in a plain dictionary it does.
    """
    dtype = arguments.get("dtype")
    if dtype is None:
        dtype = arguments.get("torch_dtype")
    config = arguments.get("quantization_config")
    if isinstance(config, Mapping):
        compute = _name(config.get("bnb_4bit_compute_dtype"))
    else:
        compute = _name(getattr(config, "bnb_4bit_compute_dtype", None))
        compute = None if compute == "float32" else compute
    return LoadRequest(_name(dtype), compute)


def request_of(model: torch.nn.Module) -> LoadRequest | None:
    """Return the dtypes that a model was loaded with; None if patchkit did not see it loaded."""
    for module in model.modules():
        request = getattr(vars(module).get("hf_quantizer"), _RECORD, None)
        if isinstance(request, LoadRequest):
            return request
    return None


def around_from_pretrained(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `PreTrainedModel.from_pretrained`: give quantized checkpoints the requested dtype."""
    request = read_request(kwargs)
    token = _LOADING.set(request)
    try:
        loaded = wrapped(*args, **kwargs)
    finally:
        _LOADING.reset(token)
    model = loaded[0] if isinstance(loaded, tuple) else loaded
    quantizer = getattr(model, "hf_quantizer", None)
    method = getattr(getattr(quantizer, "quantization_config", None), "quant_method", None)
    if str(getattr(method, "value", method)).startswith("bitsandbytes"):
        setattr(quantizer, _RECORD, request)
        if getattr(quantizer, "pre_quantized", False):
            _apply_request(model, request)
    return loaded


def cast_unquantized(
    wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap `Bnb4bitDeserialize.convert` and its 8-bit sibling.

    From 5.21.0 on Transformers casts nothing that these convert, and they convert every `weight` of
    a quantized checkpoint. An unquantized weight gets the dtype of its place in the model, or
    float32 where the model wants that.
    """
    converted = wrapped(*args, **kwargs)
    request = _LOADING.get()
    if request is None or request.dtype is None or len(converted) != 1:
        return converted
    arguments = inspect.signature(wrapped).bind(*args, **kwargs).arguments
    model, name = arguments.get("model"), arguments.get("full_layer_name")
    if model is None or name is None:
        return converted
    module = model.get_submodule(name.rpartition(".")[0])
    if packs_weight(module):
        return converted
    dtype = _dtype_at(model, name, request.dtype)
    return {key: _cast(value, dtype) for key, value in converted.items()}


def is_packed_weight(model: Any, name: str, quantizer: Any) -> bool:
    """Tell whether a parameter of a quantized checkpoint holds packed 4-bit numbers."""
    if not getattr(quantizer, "pre_quantized", False) or not name.endswith(".weight"):
        return False
    return "compute_type_is_set" in vars(model.get_submodule(name.rpartition(".")[0]))


def _dtype_at(model: Any, name: str, requested: str) -> torch.dtype:
    import torch

    for pattern, planned in model._get_dtype_plan(getattr(torch, requested)).items():
        if re.search(pattern.replace("*", ".*"), name):
            return planned
    return model.get_parameter_or_buffer(name).dtype


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list):
        return [_cast(tensor, dtype) for tensor in value]
    return value.to(dtype) if value.is_floating_point() else value


def _apply_request(model: torch.nn.Module, request: LoadRequest) -> None:
    threaded = []
    if request.for_layers is not None:
        threaded.append(DtypeChanges(request.for_layers).thread_quantized(model))
    if request.for_weights is not None:
        threaded.append(DtypeChanges(request.for_weights).thread_weights(model))
    for summary in filter(None, threaded):
        logger.info("patchkit: the checkpoint was quantized in another dtype; %s", summary)


def _name(dtype: object) -> str | None:
    # A dictionary of dtypes for parts of a model, and "auto", are left to Transformers.
    return DTYPES.get(str(dtype).removeprefix("torch."))
