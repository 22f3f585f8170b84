"""Names of TRL that moved or went."""

from __future__ import annotations

from ..changes import Change, Moved

_0_29 = "https://github.com/huggingface/trl/releases/tag/v0.29.0"

ROWS: tuple[Change, ...] = (
    *(
        Moved(
            name=f"trl.{name}",
            to=f"trl.experimental.{folder}.{name}",
            gone="trl 0.29.0",
            since="trl 0.26.0",
            source=_0_29,
        )
        for folder, names in {
            "orpo": ("ORPOConfig", "ORPOTrainer"),
            "cpo": ("CPOConfig", "CPOTrainer"),
            "gkd": ("GKDConfig", "GKDTrainer"),
            "online_dpo": ("OnlineDPOConfig", "OnlineDPOTrainer"),
        }.items()
        for name in names
    ),
)
