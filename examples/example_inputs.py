"""Give the training scripts beside this file a model and a dataset, where users have their own.

Without `--model` a tiny Llama is made, and without `--dataset` made-up rows are used. Without a GPU the scripts take CUDA's fp16 path on the CPU.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patchkit.lab import cuda_fp16, tiny, trainers


@dataclass(frozen=True)
class Example:
    """One run of a script.

    Args:
        model: a name or folder for `from_pretrained`.
        dataset: the training set.
        device: the device to load the model on in this process.
        args: training arguments that depend on the machine and the command line.
    """

    model: str
    dataset: Any
    device: str | int
    args: dict[str, Any]

    def tell(self, trainer: Any) -> None:
        """Print the training of each process, and patchkit's report."""
        from patchkit.engine.session import SESSION

        state = trainer.accelerator.state
        losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
        dtypes = {
            str(parameter.dtype)
            for parameter in trainer.model.parameters()
            if parameter.requires_grad
        }
        print(
            f"rank {state.process_index} of {state.num_processes}: losses {losses}, "
            f"trainable {sorted(dtypes)}, {type(trainer).__init__.__code__.co_filename}",
            flush=True,
        )
        trainer.accelerator.wait_for_everyone()
        if trainer.accelerator.is_main_process:
            print(SESSION.report())


@contextlib.contextmanager
def prepared(trainer: str, description: str) -> Iterator[Example]:
    """Read the command line, and make the model and dataset that it does not name.

    Args:
        trainer: the trainer for made-up rows; see `trainers.TRAINERS`.
        description: the description of the script, for `--help`.
    """
    import torch

    options = _parser(description).parse_args()
    cuda_fp16.install()
    with tempfile.TemporaryDirectory() as folder:
        # Before there is a process group, in which only the first rank would save.
        model = options.model or str(tiny.build_causal_lm(Path(folder) / "model"))
        gpu = torch.cuda.is_available()
        yield Example(
            model=model,
            dataset=_dataset(options.dataset, trainer),
            device=_local_rank() if gpu else "cpu",
            args={
                "output_dir": options.output or folder,
                "max_steps": options.steps,
                # So narrow a model learns nothing at the rate of a large one.
                "learning_rate": 2e-4 if options.model else 1e-2,
                "logging_steps": 1,
                "report_to": [],
                "save_strategy": "steps" if options.output else "no",
                "save_steps": options.steps,
                "use_cpu": not gpu,
                "ddp_find_unused_parameters": False,
            },
        )


def _local_rank() -> int:
    from accelerate import PartialState

    rank: int = PartialState().local_process_index
    return rank


def _dataset(name: str | None, trainer: str) -> Any:
    import datasets

    if name is not None:
        return datasets.load_dataset(name, split="train")
    return datasets.Dataset.from_list(trainers.find(trainer).rows() * 8)


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", help="name or folder; a tiny model, made here, by default")
    add("--dataset", help="name or folder, whose split `train` is used; made-up rows by default")
    add("--steps", type=int, default=5, help="optimizer steps (default: 5)")
    add("--output", help="folder to save the adapters in; not saved by default")
    return parser
