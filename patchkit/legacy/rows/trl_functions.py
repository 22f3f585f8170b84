"""Keywords of TRL's functions."""

from __future__ import annotations

from ..changes import Change, Rename
from ..sources import notes
from .many import keywords

_PROCESSING_CLASS = {"tokenizer": Rename("processing_class")}

ROWS: tuple[Change, ...] = (
    *keywords(
        ("trl.apply_chat_template", "trl.maybe_apply_chat_template"),
        _PROCESSING_CLASS,
        gone="trl 1.3.0",
        since="trl 1.3.0",
    ),
    *keywords(
        ("trl.add_response_schema",),
        _PROCESSING_CLASS,
        gone="trl 1.2.0",
        since="trl 1.2.0",
    ),
    *keywords(
        ("trl.get_peft_config", "trl.get_quantization_config"),
        {"model_config": Rename("model_args")},
        gone="trl 0.14.0",
        since="trl 0.13.0",
        source=notes("trl 0.13.0"),
    ),
)
