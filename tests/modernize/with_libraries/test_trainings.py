"""An old command line and its settings fail; rewritten they train, with the layer's losses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from patchkit.lab import tiny

ROOT = Path(__file__).resolve().parents[3]
LAYER = ("-m", "patchkit", "run", "--legacy", "--")
FILES = {
    "train.py": """
import sys
from datasets import Dataset
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser

args, model = TrlParser((SFTConfig, ModelConfig)).parse_args_and_config()
rows = Dataset.from_dict({"text": ["some words that stand here"] * 8})
trainer = SFTTrainer(model.model_name_or_path, args=args, train_dataset=rows)
print(model.torch_dtype)
trainer.train()
print("LOSSES", [row["loss"] for row in trainer.state.log_history if "loss" in row])
""",
    "train.yaml": """
torch_dtype: float32   # on a CPU
evaluation_strategy: "no"
warmup_ratio: 0.5
learning_rate: 1.0e-2
max_seq_length: 4
use_cpu: true
""",
    "train.sh": """
set -e
python train.py --config train.yaml --bf16 \\
    --output_dir out --max_steps 3 --logging_steps 1 --save_safetensors \\
    --report_to none --model_name_or_path "$MODEL"
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.lstrip())
    tiny.build_causal_lm(tmp_path / "model", dtype="float32")
    return tmp_path


def run(folder: Path, *layer: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *layer, "bash", "train.sh"] if layer else ["bash", "train.sh"]
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "MODEL": str(folder / "model"),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def losses(result: subprocess.CompletedProcess[str]) -> list[float]:
    assert result.returncode == 0, result.stderr[-2000:]
    line = next(line for line in result.stdout.splitlines() if line.startswith("LOSSES "))
    found: list[float] = json.loads(line.removeprefix("LOSSES "))
    return found


def test_a_command_line_and_its_settings(folder: Path) -> None:
    before = run(folder)
    assert before.returncode != 0
    assert "argument --bf16: expected one argument" in before.stderr
    with_layer = losses(run(folder, *LAYER))
    modernize = [sys.executable, "-m", "patchkit", "modernize", "--write", str(folder)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(modernize, env=env, check=True, capture_output=True)
    assert losses(run(folder)) == with_layer
    assert len(with_layer) == 3
    texts = [(folder / name).read_text() for name in FILES]
    subprocess.run(modernize, env=env, check=True, capture_output=True)
    assert [(folder / name).read_text() for name in FILES] == texts
