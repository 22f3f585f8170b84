"""Metrics as `datasets.load_metric` loaded them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import LegacyError

_ROUGE = "rouge"


class _Score(float):
    """An F-measure, which stood in the middle of an interval."""

    @property
    def mid(self) -> _Score:
        return self

    @property
    def fmeasure(self) -> float:
        return float(self)

    def _refuse(self) -> NoReturn:
        raise LegacyError(
            "ROUGE of the package evaluate has the F-measures in the middle alone; for bounds, "
            "precision and recall use BootstrapAggregator of the package rouge_score."
        )

    high = low = precision = recall = property(_refuse)


def with_scores(load: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that loads metrics whose results are read as before.

    Args:
        load: the function of evaluate.
    """

    @functools.wraps(load)
    def load_metric(path: str, *args: Any, **kwargs: Any) -> Any:
        metric = load(path, *args, **kwargs)
        if path.rpartition("/")[2] == _ROUGE:
            compute = metric.compute

            def computed(*args: Any, **kwargs: Any) -> Any:
                result = compute(*args, **kwargs)
                if not result or not kwargs.get("use_aggregator", True):
                    return result
                return {name: _Score(value) for name, value in result.items()}

            metric.compute = computed
        return metric

    return load_metric
