"""Names of PEFT that moved."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Moved

_FOR_KBIT = "peft.prepare_model_for_kbit_training"

_MOVED = {
    "0.10.0": {
        "peft.prepare_model_for_int8_training": _FOR_KBIT,
        "peft.utils.other.prepare_model_for_int8_training": _FOR_KBIT,
        "peft.utils.prepare_model_for_int8_training": _FOR_KBIT,
    },
    "0.15.0": {
        f"peft.mapping.{name}": f"peft.{name}"
        for name in (
            "LoraConfig",
            "MODEL_TYPE_TO_PEFT_MODEL_MAPPING",
            "PeftModel",
            "PromptTuningConfig",
            "get_peft_model",
        )
    },
    "0.19.0": {"peft.BoneConfig": "peft.MissConfig", "peft.BoneModel": "peft.MissModel"},
}


def _rows() -> Iterator[Change]:
    for release, moved in _MOVED.items():
        for name, to in moved.items():
            yield Moved(name=name, to=to, gone=f"peft {release}")


ROWS: tuple[Change, ...] = tuple(_rows())
