"""Names of PEFT, Datasets and huggingface_hub that moved or went."""

from __future__ import annotations

from collections.abc import Iterator

from ..changes import Change, Gone, Moved
from .sources import notes

_DATASETS = "https://github.com/huggingface/datasets/releases/tag/{}"
_FOR_KBIT = "peft.prepare_model_for_kbit_training"

_HUB = "https://github.com/huggingface/huggingface_hub/releases/tag/v1.0.0"

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
            yield Moved(name=name, to=to, gone=f"peft {release}", source=notes(f"peft {release}"))
    for place in ("huggingface_hub", "huggingface_hub.utils"):
        yield Moved(
            name=f"{place}.HfFolder",
            to="patchkit.legacy.written.hub.HfFolder",
            gone="huggingface_hub 1.0.0",
            source=_HUB,
        )
    for place in ("huggingface_hub", "huggingface_hub.repository"):
        yield Moved(
            name=f"{place}.Repository",
            to="patchkit.legacy.written.hub.Repository",
            gone="huggingface_hub 1.0.0",
            source=_HUB,
        )
    yield Moved(
        name="datasets.load_metric",
        to="evaluate.load",
        gone="datasets 3.0.0",
        source=_DATASETS.format("3.0.0"),
    )
    yield Gone(
        name="datasets.load_metric",
        instead="The function load of the package evaluate takes its place; install evaluate.",
        gone="datasets 3.0.0",
        source=_DATASETS.format("3.0.0"),
    )


ROWS: tuple[Change, ...] = tuple(_rows())
