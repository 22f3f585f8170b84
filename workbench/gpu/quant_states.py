"""What a 4-bit layer costs whose compute dtype or quant state is not that of the activations."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from .. import ROOT
from .parts import Row, one_by_one

PROGRAM = ROOT / "benchmarks" / "programs" / "four_bit_layer.py"


def units() -> list[str]:
    from patchkit.lab.reproduce import device

    sizes = [(4096, 4096), (4096, 512), (4096, 16)] if device() == "cuda" else [(256, 8)]
    return [
        f"{width} x {width}, {tokens} tokens, {dtype}"
        for width, tokens in sizes
        for dtype in ("bfloat16", "float16")
    ]


def rows(units: list[str]) -> Iterator[Row]:
    return one_by_one(units, _measure)


def _measure(unit: str) -> Row:
    from patchkit.lab.reproduce import device

    size, tokens, dtype = unit.split(", ")
    done = subprocess.run(
        [
            sys.executable,
            str(PROGRAM),
            f"--rounds={30 if device() == 'cuda' else 5}",
            f"--width={size.split()[0]}",
            f"--tokens={tokens.split()[0]}",
            f"--dtype={dtype}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    outcome = json.loads(done.stdout.splitlines()[-1])
    ratios = {
        layer: {part: round(statistics.median(values), 4) for part, values in parts.items()}
        for layer, parts in outcome["layers"].items()
    }
    return {"ratios": ratios, "milliseconds": outcome["milliseconds"], "device": outcome["device"]}
