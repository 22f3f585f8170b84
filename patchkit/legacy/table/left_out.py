"""What changed and has no row, on purpose."""

from __future__ import annotations

from collections.abc import Mapping

_FUNCTION = "a function's argument that is given by position"
_PACKAGED = "an internal of one or two releases"

LEFT_OUT: Mapping[str, str] = {
    "trl.add_response_schema(tokenizer=)": _FUNCTION,
    "trl.apply_chat_template(tokenizer=)": _FUNCTION,
    "trl.maybe_apply_chat_template(tokenizer=)": _FUNCTION,
    "trl.get_peft_config(model_config=)": _FUNCTION,
    "trl.get_quantization_config(model_config=)": _FUNCTION,
    "trl.prepare_multimodal_messages(num_images=)": _FUNCTION,
    "trl.unpair_preference_dataset(num_proc=)": "the function took it for one of datasets",
    "trl.unpair_preference_dataset(desc=)": "the function took it for one of datasets",
    "trl.SftArgumentParser": _PACKAGED,
    "trl.DpoArgumentParser": _PACKAGED,
    "trl.compute_token_accuracy": _PACKAGED,
}
"""What it is, as `patchkit legacy scan` names it, and why it has no row."""
