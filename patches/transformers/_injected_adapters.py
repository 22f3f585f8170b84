"""Adapters that Transformers injects into a model by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from patchkit.precision.adapters import shards_parameters


def casting(inject: Callable[..., Any]) -> Callable[..., Any]:
    """Return PEFT's `inject_adapter_in_model`, followed by the cast of `get_peft_model`."""

    def inject_and_cast(config: Any, model: Any, name: str, **options: Any) -> Any:
        injected = inject(config, model, name, **options)
        if not getattr(config, "inference_mode", False) and not shards_parameters(None):
            _cast_as_peft(config, model, name)
        return injected

    return inject_and_cast


def _cast_as_peft(config: Any, model: Any, name: str) -> None:
    """Make an adapter's half-precision weights float32, by the method that is its tuner's own."""
    from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING

    # inject_adapter_in_model has dropped its tuner; making another would inject a second time.
    cls = PEFT_TYPE_TO_TUNER_MAPPING[config.peft_type]
    tuner = cls.__new__(cls)
    vars(tuner).update(model=model, peft_config={name: config})
    # PEFT 0.19 injects TinyLoRA, too, and loses its shared vectors with its tuner.
    with suppress(AttributeError):
        tuner._cast_adapter_dtype(adapter_name=name, autocast_adapter_dtype=True)
