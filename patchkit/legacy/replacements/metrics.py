"""Metrics as `datasets.load_metric` loaded them."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from ..call_sites import source_of
from ..errors import LegacyError
from ..uses import logger

_ROUGE = "rouge"
_PARTS, _WITHIN = ("precision", "recall"), ("mid", "high", "low")
_REFUSAL = (
    "ROUGE of the package evaluate has the F-measures in the middle alone; for bounds, precision "
    "and recall use BootstrapAggregator of the package rouge_score."
)


class _Score(float):
    """An F-measure, which stood in the middle of an interval."""

    @property
    def mid(self) -> _Score:
        return self

    @property
    def fmeasure(self) -> float:
        return float(self)

    def _refuse(self) -> NoReturn:
        raise LegacyError(_REFUSAL)

    high = low = precision = recall = property(_refuse)


def _tell_ahead(frame: FrameType) -> None:
    """Print a line if the file that loads ROUGE reads what is refused after the training."""
    source = source_of(frame)
    if source is None:
        return
    for node in (node for part in _PARTS for node in source.reads(part)):
        if isinstance(node.value, ast.Attribute) and node.value.attr in _WITHIN:
            file = Path(frame.f_code.co_filename).name
            logger.warning("patchkit: %s:%d: %s", file, node.lineno, _REFUSAL)
            return


def with_scores(load: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that loads metrics whose results are read as before.

    Args:
        load: the function of evaluate.
    """

    @functools.wraps(load)
    def load_metric(path: str, *args: Any, **kwargs: Any) -> Any:
        metric = load(path, *args, **kwargs)
        if path.rpartition("/")[2] == _ROUGE:
            _tell_ahead(sys._getframe(1))
            compute = metric.compute

            def computed(*args: Any, **kwargs: Any) -> Any:
                result = compute(*args, **kwargs)
                if not result or not kwargs.get("use_aggregator", True):
                    return result
                return {name: _Score(value) for name, value in result.items()}

            metric.compute = computed
        return metric

    return load_metric
