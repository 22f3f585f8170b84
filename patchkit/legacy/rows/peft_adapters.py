"""Adapters of PEFT: their configurations, and what is saved of them."""

from __future__ import annotations

from ..changes import Adjusted, Change, Default, GivenToo, Refuse
from ..converting.adjusting.adapters import counted, steps_to_come
from .many import keywords

_OFT = ("peft.OFTConfig",)
_ONE_SIZE = Refuse("All layers have the same number of blocks, or blocks of the same size.")

ROWS: tuple[Change, ...] = (
    Default(
        owners=("peft.PeftModel.save_pretrained",),
        name="safe_serialization",
        values=(("0.6.0", False), ("0.7.0", True)),
        quiet=True,
        gone="peft 0.7.0",
    ),
    Adjusted(
        owners=("peft.AdaLoraConfig",),
        name="AdaLoRA without a number of steps",
        adjust=steps_to_come,
        gone="peft 0.15.0",
    ),
    *keywords(
        _OFT,
        {"rank_pattern": _ONE_SIZE, "alpha_pattern": _ONE_SIZE},
        gone="peft 0.15.0",
    ),
    Adjusted(
        owners=_OFT,
        name="a number of blocks without their size",
        adjust=counted,
        in_source=GivenToo("oft_block_size", "0", beside="r"),
        gone="peft 0.16.0",
    ),
    *(
        Default(
            owners=_OFT,
            name=name,
            values=(("0.7.0", was), ("0.16.0", now)),
            gone="peft 0.16.0",
        )
        for name, was, now in (("r", 8, 0), ("oft_block_size", 0, 32))
    ),
)
