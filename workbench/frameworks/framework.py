"""What a framework is, and what it is told to train."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..families.modes import Mode

STEPS = 3
SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Training:
    """A training that a framework is to start.

    Args:
        task: what is trained, such as `sft`.
        method: `lora` or `full`.
        mode: what is loaded, and in which precision it is trained.
        model: the folder of the checkpoint.
        data: the folder of the datasets.
        folder: the folder that the command runs in; configurations are written there.
    """

    task: str
    method: str
    mode: Mode
    model: Path
    data: Path
    folder: Path

    @property
    def lora(self) -> bool:
        return self.method == "lora"

    @property
    def bits(self) -> int:
        """To how many bits bitsandbytes quantizes; 0 for not at all."""
        return {"4bit": 4, "8bit": 8}.get(self.mode.quantization, 0)

    @property
    def dtype(self) -> str:
        """The dtype that a user of this precision loads the model in, by its torch name."""
        return self.mode.precision.compute

    @property
    def mixed(self) -> dict[str, bool]:
        """`fp16` or `bf16`, as `TrainingArguments` have them."""
        name = self.mode.precision.autocast
        return {name: True} if name else {}

    def arguments(self) -> dict[str, Any]:
        """Return fields of `TrainingArguments`, which most frameworks pass on."""
        return {
            "output_dir": "out",
            "max_steps": STEPS,
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 1,
            "learning_rate": 0.001,
            "logging_steps": 1,
            "save_strategy": "no",
            "report_to": "none",
            "use_cpu": True,
            "seed": 0,
            **self.mixed,
        }

    def rows(self, name: str) -> Path:
        """Return the file of a dataset, a line of JSON for each row."""
        return self.data / f"{name}.jsonl"

    def write(self, name: str, content: Any) -> str:
        """Write a configuration as JSON, which is YAML, too; return the name of the file."""
        (self.folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return name


@dataclass(frozen=True)
class Framework:
    """A framework, or a script in the shape of one.

    Args:
        name: on the command line.
        title: in the page.
        version_set: the file in `version_sets/frameworks` that installs it.
        distributions: whose versions the page has, first its own.
        tasks: what it trains, and the methods of each.
        command: writes configurations, and returns the command that starts a training.
        note: what the page says of it.
        start: how a user starts it.
        logged: returns the logs of the steps where no `Trainer` trains, from the folder of the
            command and what it wrote.
    """

    name: str
    title: str
    version_set: str
    distributions: tuple[str, ...]
    tasks: Mapping[str, tuple[str, ...]]
    command: Callable[[Training], list[str]]
    note: str = ""
    start: str = "python train.py"
    logged: Callable[[Path, str], Iterable[Mapping[str, Any]]] | None = None


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line, as `HfArgumentParser` takes them."""
    words = []
    for name, value in options.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += [f"--{name}", text]
    return words
