"""Metrics of `datasets.load_metric`, by what the package evaluate gives today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from patchkit.legacy.errors import LegacyError
from patchkit.legacy.replacements.metrics import with_scores


class Metric:
    def compute(self, *, use_aggregator: bool = True, **texts: Any) -> dict[str, Any] | None:
        if not texts:
            return None
        return {"rouge1": 0.25 if use_aggregator else [0.25, 0.25]}


@pytest.fixture
def metric() -> Any:
    return with_scores(lambda path, *args: Metric())("rouge")


def test_a_score_is_read_as_before_and_as_today(metric: Any) -> None:
    score = metric.compute(predictions=["a"], references=["b"])["rouge1"]
    assert score.mid.fmeasure == score == 0.25
    assert type(score.mid.fmeasure) is float
    assert round(score * 100, 4) == 25.0


@pytest.mark.parametrize("part", ["mid.precision", "mid.recall", "low.fmeasure", "high.fmeasure"])
def test_what_evaluate_has_not_is_refused(metric: Any, part: str) -> None:
    score = metric.compute(predictions=["a"], references=["b"])["rouge1"]
    with pytest.raises(LegacyError, match="use BootstrapAggregator of the package rouge_score"):
        eval(f"score.{part}", {"score": score})


def test_what_is_refused_later_is_told_with_the_metric(tmp_path: Path, caplog: Any) -> None:
    file = tmp_path / "train.py"
    file.write_text("load('rouge')\nread = lambda score: score.mid.recall\n")
    exec(compile(file.read_text(), str(file), "exec"), {"load": with_scores(lambda path: Metric())})
    assert [record.getMessage()[:31] for record in caplog.records] == [
        "patchkit: train.py:2: ROUGE of "
    ]


def test_other_results_stay(metric: Any) -> None:
    assert metric.compute() is None
    separate = metric.compute(predictions=["a"], references=["b"], use_aggregator=False)
    assert separate == {"rouge1": [0.25, 0.25]}
    other = with_scores(lambda path, *args: Metric())("accuracy", "config")
    assert type(other.compute(predictions=[1])["rouge1"]) is float
