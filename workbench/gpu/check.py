"""Measure on this machine what only a GPU can show, and write it into one JSON file.

    python -m workbench gpu --wheels WHEELS --output gpu.json
    python -m workbench record gpu.json
    python -m workbench gpu --page gpu.json

The machine needs torch, transformers, peft and accelerate. What else patchkit and the measurements
need (trl, datasets, bitsandbytes, …) may lie in WHEELS, which are unpacked into a temporary folder:
nothing is installed, and no network is used. Parts run in the order of their value until the budget
is spent. On a CPU everything runs too, scaled down; it then says nothing about a GPU.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .. import ROOT
from . import child, page, running, wheels
from .parts import PARTS

SCHEMA = 1
PAGE = ROOT / "docs" / "gpu.md"
OUT_OF_BUDGET = "the budget was spent"
FOLDERS = ("TMPDIR", "HF_HOME", "PATCHKIT_CACHE", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")
"""Variables for folders that libraries write into."""
LEAST = 5.0
"""Seconds with which it makes no sense to begin a part."""


def main() -> int:
    if sys.argv[1:2] == ["--measure"]:
        return child.main(sys.argv[2:])
    options = _options()
    if options.page is not None:
        results = (
            json.loads(options.page.read_text(encoding="utf-8")) if options.page.name else None
        )
        (options.output or PAGE).write_text(page.page(results), encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as folder:
        results = check(options, Path(folder))
    print(f"wrote {options.output}: {results['seconds']} s")
    if results["note"]:
        print(results["note"])
    return 0


def check(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the parts one after the other; the file is written after each."""
    started = time.monotonic()
    results: dict[str, Any] = {
        "schema": SCHEMA,
        "date": datetime.date.today().isoformat(),
        "device": "unknown",
        "note": "",
        "budget": options.budget,
        "wheels": wheels.unpack(options.wheels, folder / "unpacked") if options.wheels else {},
        "parts": {},
    }
    env = _environment(folder)
    for name in options.parts:
        part = PARTS[name]
        left = options.budget - (time.monotonic() - started)
        if left < LEAST:
            results["parts"][name] = {"title": part.title, "state": OUT_OF_BUDGET, "rows": []}
            print(f"{name}: {OUT_OF_BUDGET}", flush=True)
        else:
            seconds = min(left, part.share * options.budget)
            found = running.run(
                part, seconds, options.units, env, lambda line: print(line, flush=True)
            )
            results["parts"][name] = found
            _note_device(results, name, found)
        results["seconds"] = round(time.monotonic() - started, 1)
        options.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def _note_device(results: dict[str, Any], name: str, found: dict[str, Any]) -> None:
    """Copy the device and the verdicts for the matrix from a part to the whole."""
    for row in found["rows"]:
        if name == "machine" and row["unit"] == "device" and "device" in row:
            results["device"] = row["device"]
            results["note"] = page.CPU_NOTE if row["device"] == "cpu" else ""
            print(results["note"] or f"device: {row['device']}", flush=True)
    if "environment" in found:
        results["environment"] = found.pop("environment")
        results["verdicts"] = [row.pop("verdict") for row in found["rows"] if "verdict" in row]


def _environment(folder: Path) -> dict[str, str]:
    """Return the variables of the parts: all that they write, they write into the folder."""
    env = dict(os.environ)
    env.pop("PYTHONHOME", None)
    path = [str(folder / "unpacked"), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    for variable in FOLDERS:
        place = folder / variable.lower()
        place.mkdir()
        env[variable] = str(place)
    # These variables choose patches or wait for a server: they would change the measurement.
    for variable in [
        name for name in env if name.startswith("PATCHKIT_") and name != "PATCHKIT_CACHE"
    ]:
        del env[variable]
    env.setdefault("CUDA_VISIBLE_DEVICES", "0")  # with several, the Trainer copies the model
    return {**env, "HF_HUB_OFFLINE": "1"}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--wheels", type=Path, help="folder of wheels to unpack and put onto the path")
    add("--output", type=Path, help="the file to write (default: gpu.json; docs/gpu.md for --page)")
    add("--budget", type=float, default=540, help="seconds for everything (default: 540)")
    add("--units", nargs="+", default=["*"], help="only the units that these globs fit")
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts")
    add(
        "--page",
        type=Path,
        nargs="?",
        const=Path(),
        help="measure nothing; write docs/gpu.md from this file, or as it is before any was made",
    )
    options = parser.parse_args()
    if options.page is None:
        options.output = options.output or Path("gpu.json")
        # A figure means nothing without its device.
        options.parts = list(dict.fromkeys(["machine", *options.parts]))
        options.units = ["device", *options.units]
    if options.wheels and not options.wheels.is_dir():
        parser.error(f"there is no folder {options.wheels}")
    return options
