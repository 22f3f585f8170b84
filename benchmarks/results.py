"""The results of a benchmark, as a table or as JSON."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from patchkit.about import __version__

_LIBRARIES = ("trl", "transformers", "peft", "accelerate", "bitsandbytes", "torch")


@dataclass(frozen=True)
class Measure:
    """One quantity, measured several times.

    Args:
        name: its name.
        samples: its values; their median counts.
        unit: their unit.
        limit: what the median should stay under, if anything.
    """

    name: str
    samples: Sequence[float]
    unit: str
    limit: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def likely(self) -> tuple[float, float]:
        """The 95% interval of the median; all samples where there are few."""
        ordered, count = sorted(self.samples), len(self.samples)
        outside = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
        return ordered[outside], ordered[-1 - outside]

    @property
    def verdict(self) -> str:
        low, high = self.likely
        if self.limit is None:
            return ""
        if high < self.limit:
            return "ok"
        return "OVER" if low >= self.limit else "unclear"

    def cells(self) -> list[str]:
        low, high = self.likely
        limit = "" if self.limit is None else f"< {self.limit:g}"
        numbers = f"{self.median:.2f}", f"{low:.2f} to {high:.2f}"
        return [self.name, *numbers, self.unit, limit, self.verdict]

    def to_dict(self) -> dict[str, Any]:
        samples = [round(sample, 4) for sample in self.samples]
        return {
            "name": self.name,
            "median": round(self.median, 4),
            "unit": self.unit,
            "likely": [round(end, 4) for end in self.likely],
            "limit": self.limit,
            "verdict": self.verdict,
            "samples": samples,
        }


def options(description: str | None, rounds: int) -> argparse.ArgumentParser:
    """Return the options that every benchmark has."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds, help="measurements of each")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    return parser


def show(measures: Sequence[Measure], notes: Sequence[str] = (), *, as_json: bool) -> None:
    """Print measures, and where they were taken."""
    if as_json:
        rows = [measure.to_dict() for measure in measures]
        print(json.dumps({"where": _where(), "measures": rows, "notes": notes}, indent=2))
        return
    print(where())
    header = ["", "median", "likely", "", "limit", ""]
    rows = [header, *(measure.cells() for measure in measures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        name, *numbers = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([name, *numbers]).rstrip())
    for note in notes:
        print(note)


def where() -> str:
    """Return the day, the machine's load and the versions, in one line."""
    return ", ".join(f"{name} {value}" for name, value in _where().items())


def _where() -> dict[str, str]:
    facts = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "cpus": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "patchkit": __version__,
    }
    for library in _LIBRARIES:
        try:
            facts[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return facts
