"""Keywords of what TRL has for scripts."""

from __future__ import annotations

from ..changes import Change, Drop, Keep, Rename
from ..sources import notes
from .many import keywords, only_false

_MODEL = ("trl.ModelConfig",)
_PARSER = ("trl.TrlParser",)

ROWS: tuple[Change, ...] = (
    *keywords(
        _MODEL,
        {"torch_dtype": Rename("dtype")},
        gone="trl 0.27.0",
        since="trl 0.23.0",
        source=notes("trl 0.23.0"),
    ),
    *keywords(
        _MODEL,
        {
            "trust_remote_code": Keep(
                "trust_remote_code", "say trust_remote_code= in the configuration of the trainer"
            )
        },
        gone="trl 1.7.0",
    ),
    *keywords(
        ("trl.ScriptArguments",),
        {"config": Rename("dataset_config")},
        gone="trl 0.13.0",
        since="trl 0.13.0",
    ),
    *keywords(
        ("trl.ScriptArguments",),
        {"gradient_checkpointing_use_reentrant": Drop("only scripts read it")},
        gone="trl 0.27.0",
    ),
    *keywords(
        _PARSER,
        {"parsers": Rename("dataclass_types")},
        gone="trl 0.13.0",
        since="trl 0.13.0",
    ),
    *keywords(
        _PARSER,
        {
            "ignore_extra_args": only_false(
                "arguments that nobody knows are errors",
                "Say parse_args_and_config(return_remaining_strings=True).",
            )
        },
        gone="trl 0.14.0",
    ),
)
