"""Check the layers that other libraries than bitsandbytes have quantized."""

from __future__ import annotations

from ...text import short_list
from ..facts import Facts
from ..findings import Finding, Severity
from ..wording import OTHER_HALF, plural, precision_setting, short

_RAISE = ("hqq", "quanto")
"""The libraries whose layers raise in a step: most multiply gradients with weights of another dtype
in the backward pass, and quanto's int8 layers in float16 already refuse a bfloat16 input."""


def layers_of_another_dtype(facts: Facts) -> Finding | None:
    """Find quantized layers in bfloat16 under fp16, or the reverse: nothing can cast them."""
    if facts.autocast is None:
        return None
    other = OTHER_HALF[facts.autocast]
    layers = [layer for layer in facts.anatomy.foreign if short(layer.dtype) == other]
    if not layers:
        return None
    library = layers[0].library
    raises = library in _RAISE
    names = short_list(layer.name for layer in layers)
    return Finding(
        "quantized-in-another-dtype",
        Severity.ERROR if raises else Severity.WARNING,
        f"{plural(len(layers), 'layer')} that {library} has quantized ({names}) compute in "
        f"{other}; training is in {facts.autocast}",
        "Autocast does not reach all that these layers multiply, and the backward pass runs "
        f"outside it: the first step raises that {facts.autocast} and {other} are not the same "
        "dtype."
        if raises
        else "Autocast does not reach all of these layers: each may return the dtype of its "
        f"input, {other} or float32 among them.",
        f"AutoModelForCausalLM.from_pretrained(…, dtype=torch.{facts.autocast})  # and quantize "
        "that: what is quantized cannot be cast\n"
        f"# or train in the dtype of the model: {precision_setting(facts, other)}",
    )
