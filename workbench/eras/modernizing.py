"""Rewrite scripts with `patchkit modernize` before they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .. import ROOT
from .eras import EraScript


def modernize(folder: Path, script: EraScript) -> dict[str, Any]:
    """Rewrite a script and the files that belong to it, twice.

    Args:
        folder: a copy of the folder of its era.
        script: the script.

    Returns:
        `findings`: each with the file it was found in; `stable`: whether the second time changed
        nothing; `refused`: what the command said that failed, empty if it did not.
    """
    files = sorted(str(path) for path in folder.glob(f"{script.path.stem}.*"))
    first, said = _call(files)
    second, said_again = _call(files)
    return {
        "findings": [
            {"file": Path(file["file"]).name, **finding}
            for file in first
            for finding in file["findings"]
        ],
        "stable": not any(file["changed"] for file in second),
        "refused": said or said_again,
    }


def _call(files: list[str]) -> tuple[list[dict[str, Any]], str]:
    result = subprocess.run(
        [sys.executable, "-m", "patchkit", "modernize", "--write", "--json", *files],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not result.stdout:
        raise SystemExit(f"patchkit modernize failed: {result.stderr}")
    content: list[dict[str, Any]] = json.loads(result.stdout)["files"]
    return content, result.stderr.strip() if result.returncode else ""
