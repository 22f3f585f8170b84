"""Train in each precision and quantization without patchkit and with all of it; compare the losses.

What rounding to a dtype does to a curve is its distance from the same training in float32:
two curves no further apart than that agree within the dtype's noise. TRL has bfloat16 adapters in
float32 training of quantized models too, so the noise there is that of bfloat16.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import results
from fresh import Interpreters, interpreters

PRECISIONS = ("fp16", "bf16", "fp32")
QUANTIZATIONS = ("4bit", "8bit", "none")
_ERROR_SHOWN = 60


@dataclass(frozen=True)
class Curve:
    """The loss of each step of one training, or why there is none."""

    losses: tuple[float, ...] = ()
    error: str = ""

    @property
    def last(self) -> str:
        return f"`{self.error[:_ERROR_SHOWN]}…`" if self.error else f"{self.losses[-1]:.4f}"

    def distance(self, other: Curve) -> float | None:
        """Return the mean absolute difference of the losses, None where a training failed."""
        if self.error or other.error:
            return None
        pairs = zip(self.losses, other.losses, strict=True)
        return statistics.fmean(abs(first - second) for first, second in pairs)


@dataclass(frozen=True)
class Comparison:
    """One precision and quantization, without patchkit and with it."""

    precision: str
    quantization: str
    without: Curve
    within: Curve
    noise: float | None

    @property
    def apart(self) -> float | None:
        return self.within.distance(self.without)

    @property
    def verdict(self) -> str:
        if self.within.error:
            return "FAILED"
        if self.apart is None or self.noise is None:
            return "only with"
        if self.without.losses == self.within.losses:
            return "the same"
        return "agree" if self.apart <= self.noise else "DIFFER"

    def cells(self) -> list[str]:
        return [
            self.precision,
            self.quantization,
            self.without.last,
            self.within.last,
            *("" if value is None else f"{value:.5f}" for value in (self.apart, self.noise)),
            self.verdict,
        ]


HEADER = ["precision", "weights", "last loss without", "with", "apart", "noise", "verdict"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trainer", default="sft")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument(
        "--write", type=Path, help="a file to put the table into, between its marks"
    )
    options = parser.parse_args()
    with interpreters() as python:
        comparisons = _compare(python, options.trainer, options.steps)
    if options.json:
        rows = [dict(zip(HEADER, comparison.cells(), strict=True)) for comparison in comparisons]
        print(json.dumps({"rows": rows}))
        return
    table = _table([HEADER, *(comparison.cells() for comparison in comparisons)])
    print(table)
    if options.write:
        _put_between_marks(options.write, f"{results.where()}\n\n{table}")


def _compare(python: Interpreters, trainer: str, steps: int) -> list[Comparison]:
    curves: dict[tuple[str, str, bool], Curve] = {}
    for quantization in QUANTIZATIONS:
        for precision in PRECISIONS:
            for patched in (False, True):
                curves[precision, quantization, patched] = _train(
                    python,
                    {
                        "trainer": trainer,
                        "precision": precision,
                        "quantization": quantization,
                        "steps": str(steps),
                        # Gentle enough for rounding not to decide where the curve goes.
                        "args": json.dumps({"learning_rate": 2e-3}),
                    },
                    patched=patched,
                )
    return [
        Comparison(
            precision,
            quantization,
            without=curves[precision, quantization, False],
            within=curves[precision, quantization, True],
            noise=curves["bf16" if precision == "fp32" else precision, quantization, True].distance(
                curves["fp32", quantization, True]
            ),
        )
        for quantization in QUANTIZATIONS
        for precision in PRECISIONS
    ]


def _train(python: Interpreters, options: Mapping[str, str], *, patched: bool) -> Curve:
    named = [part for name, value in options.items() for part in (f"--{name}", value)]
    switch = ["--patched"] if patched else []
    outcome = python.run(["-m", "patchkit.lab", *named, *switch])
    if not outcome["ok"]:
        return Curve(error=f"{outcome['error_type']}: {outcome['error']}")
    return Curve(losses=tuple(outcome["losses"]))


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])


def _put_between_marks(file: Path, text: str) -> None:
    before, mark, rest = file.read_text().partition("<!-- measured -->")
    _, end, after = rest.partition("<!-- end -->")
    if not mark or not end:
        raise SystemExit(f"{file} has no <!-- measured --> and <!-- end -->")
    file.write_text(f"{before}{mark}\n{text}\n{end}{after}")


if __name__ == "__main__":
    main()
