"""Keywords of Accelerate."""

from __future__ import annotations

from ..changes import Change, Convert, Rename
from ..converting.conversions import data_loader
from .many import keywords

ROWS: tuple[Change, ...] = (
    *keywords(
        ("accelerate.Accelerator",),
        {"logging_dir": Rename("project_dir")},
        gone="accelerate 0.20.0",
        since="accelerate 0.17.0",
    ),
    *keywords(
        ("accelerate.Accelerator",),
        {
            name: Convert("dataloader_config", data_loader(name))
            for name in ("dispatch_batches", "even_batches", "use_seedable_sampler")
        },
        gone="accelerate 1.0.0",
        since="accelerate 0.28.0",
    ),
)
