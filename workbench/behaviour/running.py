"""Run the programs in an environment."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from .. import ROOT
from ..sweep.calling import call, last_error

LIMIT = 1800.0
"""Seconds that the programs may take in one environment."""
_OURS = (
    "PATCHKIT",
    "HF_",
    "TRANSFORMERS_",
    "ACCELERATE_",
    "WANDB_",
    "PYTHON",
    "TRL_",
    "BEHAVIOUR_",
)


def run(python: Path, results: Path, layer: str, programs: str = "*") -> str:
    """Run the programs, and write what they found into a folder, beside what others found.

    Args:
        python: the interpreter of the environment.
        results: the folder.
        layer: how the legacy layer is asked for: empty, `True`, or releases.
        programs: a glob of programs.

    Returns:
        a line that says what was written.

    Raises:
        SystemExit: the programs could not be run.
    """
    with tempfile.TemporaryDirectory(prefix="behaviour-") as folder:
        written = Path(folder, "found.json")
        env = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        env.update(
            BEHAVIOUR_LAYER=layer,
            CUDA_VISIBLE_DEVICES="",
            HF_HOME=str(Path(folder, "hub")),
            HF_HUB_OFFLINE="1",
            OMP_NUM_THREADS="1",
            PYTHONPATH=str(ROOT),
            TOKENIZERS_PARALLELISM="false",
            WANDB_MODE="disabled",
        )
        # Not resolved: a link names the environment.
        command = [str(python.absolute()), "-m", f"{__package__}.programs", str(written), programs]
        work = Path(folder, "work")
        work.mkdir()
        code, output = call(command, work, env, LIMIT, Path(folder, "log"))
        if not written.exists():
            raise SystemExit(f"{python} stopped with {code}: {last_error(output)}")
        found = json.loads(written.read_text(encoding="utf-8"))
        name = f"trl-{found['releases']['trl']}-transformers-{found['releases']['transformers']}"
        name += f"-{layer.replace('==', '-').replace(', ', '-')}" if layer else ""
        file = results / f"{name}.json"
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            for part in ("records", "said"):
                found[part] = {**kept[part], **found[part]}
        file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    facts = sum(map(len, found["records"].values()))
    return f"{file.name}: {len(found['records'])} programs, {facts} facts"
