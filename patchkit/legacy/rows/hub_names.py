"""Names of Datasets and huggingface_hub that moved or went."""

from __future__ import annotations

from ..changes import Change, Gone, Moved

_METRICS = "https://github.com/huggingface/datasets/releases/tag/3.0.0"
_FORMER = {
    "HfFolder": ("huggingface_hub", "huggingface_hub.utils"),
    "Repository": ("huggingface_hub", "huggingface_hub.repository"),
}
"""Where names of huggingface_hub were."""

ROWS: tuple[Change, ...] = (
    *(
        Moved(
            name=f"{place}.{name}",
            to=f"patchkit.legacy.replacements.hub.{name}",
            gone="huggingface_hub 1.0.0",
        )
        for name, places in _FORMER.items()
        for place in places
    ),
    Moved(
        name="datasets.load_metric",
        to="evaluate.load",
        gone="datasets 3.0.0",
        source=_METRICS,
    ),
    Gone(
        name="datasets.load_metric",
        instead="The function load of the package evaluate takes its place; install evaluate.",
        gone="datasets 3.0.0",
        source=_METRICS,
    ),
)
