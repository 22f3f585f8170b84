"""Made-up libraries and a made-up framework that requires them, in a folder of installed packages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_LIBRARIES = {
    "transformers-5.23.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: transformers\nVersion: 5.23.0\n"
    ),
    "transformers/__init__.py": (
        "from .training_args import TrainingArguments\nfrom .trainer import Trainer\n"
    ),
    "transformers/trainer.py": """
class Trainer:
    def __init__(self, model=None, args=None):
        self.args = args

    def create_optimizer(self, model=None):
        return model

    def _get_train_sampler(self, train_dataset=None):
        return train_dataset
""",
    "transformers/training_args.py": """
from dataclasses import dataclass

@dataclass
class TrainingArguments:
    output_dir: str = "out"
    warmup_steps: float = 0
    eval_strategy: str = "no"

    def __post_init__(self):
        self.is_ready = True
""",
    "transformers/integrations/__init__.py": "",
    "transformers/integrations/deepspeed.py": "found = 1\n",
    "trl-1.16.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: trl\nVersion: 1.16.0\n",
    "trl/__init__.py": "",
    "trl/models/__init__.py": "",
}
_RECORDS = {
    "made_frame-2.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: made-frame\nVersion: 2.0\nRequires-Dist: transformers>=5\n"
    ),
    "made_frame-2.0.dist-info/RECORD": "frame/__init__.py,,\n",
    "frame/__init__.py": "",
}
WITH_LAYER = "import patchkit; patchkit.apply(only=[], legacy=True)\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder, by their names."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run(
    folder: Path,
    script: str,
    frame: Mapping[str, str] | None = None,
    *,
    layer: bool = True,
    command: tuple[str, ...] = ("train.py",),
) -> subprocess.CompletedProcess[str]:
    """Run a script beside the made-up libraries.

    Args:
        folder: where it runs; `train.py` is the script, below a first line that applies the layer.
        script: its text.
        frame: modules of the framework `frame`, by the name of the file.
        layer: whether the layer is on.
        command: what Python runs.
    """
    site = folder / "site-packages"
    modules = {f"frame/{name}": text for name, text in (frame or {}).items()}
    write(site, {**_LIBRARIES, **(_RECORDS if frame is not None else {}), **modules})
    (folder / "train.py").write_text((WITH_LAYER if layer else "\n") + script, encoding="utf-8")
    paths = [str(site), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        timeout=120,
        check=False,
    )
