"""Run scripts of each era of TRL on their own set of versions, and on the newest.

    python -m workbench eras --envs ENVS --create
    python -m workbench eras --envs ENVS --output legacy.json
    python -m workbench eras --show legacy.json --into docs/legacy.md
    python -m workbench eras --show legacy.json --modernized --into docs/modernize.md

Each script runs on its own set, which proves that it was right, then on the newest set without
patchkit, then with its legacy layer, and then without it, rewritten by `patchkit modernize`:
first without patchkit, then with its patches, which the layer comes with (the side `patched`).
Models and datasets of the Hub are replaced by tiny ones in the Hub's own cache, so scripts run as
they are. A training ends after three steps.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import shlex
from pathlib import Path
from typing import Any

from ..sweep import pages
from . import environments, modernizing, page, page_of_modernized, running
from .eras import NEWEST, EraScript, scripts

SIDES = ("own", "newest", "legacy", "modernized", "patched")
WRITTEN_ANEW = ("modernized", "patched")
PATCHES = "-m patchkit run --"
LAYER = "-m patchkit run --legacy --"


def main() -> int:
    options = _options()
    if options.show is not None:
        results = json.loads(options.show.read_text(encoding="utf-8"))
        table = page_of_modernized if options.modernized else page
        text = table.table(results)
        if options.into is None:
            print(text)
        else:
            pages.write(text, options.into, table.MARKS)
        return 0
    if options.envs is None:
        raise SystemExit("eras: --envs FOLDER says where the environments lie")
    if options.create:
        environments.create(options.envs)
        return 0
    results = json.loads(options.output.read_text()) if options.output.exists() else {}
    for script in scripts():
        if any(fnmatch.fnmatch(script.name, glob) for glob in options.scripts):
            found = results.setdefault(script.name, {})
            for side in options.sides:
                if options.missing and found.get(side, {}).get("digest") == script.digest:
                    continue
                found[side] = _run(script, side, options)
                print(page.line(script.name, side, found[side]), flush=True)
                options.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def _run(script: EraScript, side: str, options: argparse.Namespace) -> dict[str, Any]:
    era = script.era if side == "own" else NEWEST
    python = environments.python_of(options.envs, era)
    if not python.exists():
        raise SystemExit(f"eras: no {python}; create it with --create")
    prefixes = {"legacy": options.layer, "patched": PATCHES}
    prefix = tuple(shlex.split(prefixes.get(side, "")))
    prepare = modernizing.modernize if side in WRITTEN_ANEW else None
    cache = options.cache or options.envs / "stand-ins"
    result = running.run(script, python, cache, prefix, prepare)
    return {"digest": script.digest, **result}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scripts", nargs="*", default=["*"], help="globs, such as '0.7/dpo_*'")
    parser.add_argument("--envs", type=Path, help="folder of the environments era-0.7, era-0.9, …")
    parser.add_argument("--create", action="store_true", help="create the missing environments")
    parser.add_argument("--cache", type=Path, help="folder for what stands in for the Hub")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES[:-1])
    parser.add_argument("--missing", action="store_true", help="only scripts without a result")
    parser.add_argument("--layer", default=LAYER, help="Python's arguments before the script")
    parser.add_argument("--output", type=Path, default=Path("legacy.json"))
    parser.add_argument("--show", type=Path, help="print the table of such a result")
    parser.add_argument("--modernized", action="store_true", help="the table of that side")
    parser.add_argument("--into", type=Path, help="page to write the table into")
    return parser.parse_args()
