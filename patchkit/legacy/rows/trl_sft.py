"""Keywords of TRL's trainers for supervised fine-tuning and for rewards."""

from __future__ import annotations

from ..changes import Behaviour, Change, Configure, Convert, Drop, Rename
from ..converting.conversions import liger_kernel, longest
from ..converting.heads import train_adapter_of_head
from ..sources import notes, pull
from .many import keywords, only_none

_SFT = ("trl.SFTTrainer",)
_REWARD = ("trl.RewardTrainer",)
_CONFIG = ("trl.SFTConfig", "trl.GKDConfig")
_MODEL = "Pass the model: model=…, which is what the function returned."
_MOVED = ("packing", "dataset_text_field", "dataset_num_proc", "dataset_kwargs", "eval_packing")
_BUFFER = Drop("it sized a buffer for packing that is gone, and means nothing without packing")
_NO_BUFFERS = {"num_of_sequences": _BUFFER, "chars_per_token": _BUFFER}
_BATCHES = Drop("it only sized the batches in which texts are tokenized")

ROWS: tuple[Change, ...] = (
    *keywords(
        _SFT,
        {"tokenizer": Rename("processing_class")},
        gone="trl 0.16.0",
        since="trl 0.12.0",
        source=notes("trl 0.12.0"),
    ),
    *keywords(
        _SFT,
        {
            **{name: Configure(name) for name in (*_MOVED, "model_init_kwargs")},
            "neftune_noise_alpha": Configure("neftune_noise_alpha"),
            "dataset_batch_size": _BATCHES,
            "infinite": Drop("max_steps and num_train_epochs say how long training lasts"),
            **_NO_BUFFERS,
        },
        gone="trl 0.13.0",
        since="trl 0.9.2",
    ),
    *keywords(
        _SFT,
        {"max_seq_length": Configure("max_length", longest)},
        gone="trl 0.13.0",
        since="trl 0.16.0",
    ),
    *keywords(
        ("trl.SFTTrainer", "trl.GKDTrainer"),
        {"model_init": only_none(_MODEL)},
        gone="trl 0.15.0",
    ),
    *keywords(
        _CONFIG,
        {"max_seq_length": Convert("max_length", longest, alike=True, written="{value}")},
        gone="trl 0.20.0",
        since="trl 0.16.0",
        source=pull("trl", 2947),
    ),
    *keywords(
        _CONFIG,
        {"use_liger": Convert("use_liger_kernel", liger_kernel, written="{value}")},
        gone="trl 0.18.0",
        since="trl 0.16.0",
        source=notes("trl 0.16.0"),
    ),
    *keywords(
        _CONFIG,
        {"dataset_batch_size": _BATCHES, **_NO_BUFFERS},
        gone="trl 0.18.0",
        source=notes("trl 0.16.0"),
    ),
    *keywords(
        _REWARD,
        {"tokenizer": Rename("processing_class")},
        gone="trl 0.12.0",
        since="trl 0.12.0",
    ),
    *keywords(
        _REWARD,
        {"max_length": Configure("max_length")},
        gone="trl 0.14.0",
        since="trl 0.7.2",
    ),
    *keywords(
        _REWARD,
        {"model_init": only_none(_MODEL)},
        gone="trl 0.24.0",
    ),
    Behaviour(
        owners=_SFT,
        name="an adapter on the head",
        around=train_adapter_of_head,
        gone="trl 1.15.0",
    ),
)
