"""`patchkit demo`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...environment import installed_version
from ...errors import PatchError
from ...libraries import with_role
from ..arguments import check_writable
from ..output import show_json

if TYPE_CHECKING:
    from ...lab.train import Precision

NEEDED = with_role("measured")


class DemoError(PatchError):
    """The demo cannot be run here."""


@click.command(short_help="Train a tiny model, without patchkit and with it.")
@click.option(
    "--trainer",
    type=click.Choice(["sft", "dpo", "reward", "kto", "grpo", "rloo", "distillation"]),
    default="sft",
    show_default=True,
    help="Which of TRL's trainers.",
)
@click.option(
    "--steps",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Optimizer steps of each training.",
)
@click.option(
    "--precision",
    type=click.Choice(["fp16", "bf16", "fp32"]),
    default="fp16",
    show_default=True,
    help="Mixed precision, and the dtype that 4-bit layers compute in.",
)
@click.option(
    "--checkpoint",
    type=click.Choice(["bf16", "fp16", "fp32"]),
    help="Dtype of the base weights.  [default: bf16; fp32 beside --precision fp32]",
)
@click.option(
    "--quantization",
    type=click.Choice(["4bit", "8bit", "none"]),
    default="4bit",
    show_default=True,
    help="How bitsandbytes stores the base weights.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw losses and dtypes (.svg, .png or .pdf); needs matplotlib.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def demo(
    trainer: str,
    steps: int,
    precision: Precision,
    checkpoint: Precision | None,
    quantization: str,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Train a tiny model with TRL, without patchkit and then with it.

    Two real trainings of LoRA adapters, each in a process of its own, on the GPU
    if there is one. Nothing is downloaded, and nothing is kept.

    \b
    Examples:
      patchkit demo                           fp16 QLoRA with SFTTrainer
      patchkit demo --trainer dpo --steps 20  another trainer, for longer
      patchkit demo --precision bf16          adapters in a bf16 training
      patchkit demo --checkpoint fp16         base weights in float16
      patchkit demo --plot loss.svg           loss curves, and the model's dtypes

    \b
    Exit status:
      0  the training with patchkit went through
      1  it did not
    """
    from ...lab.train import usual_checkpoint
    from .text import intro, summary
    from .training import train_both

    if plot is not None:
        from .drawing import check_picture_file

        check_picture_file(plot, "--plot")
        check_writable(plot, "--plot")
    missing = [name for name in NEEDED if installed_version(name) is None]
    if missing:
        raise DemoError(
            f"the demo trains for real and needs {', '.join(missing)}: "
            f"pip install {' '.join(missing)}"
        )
    setup = {
        "trainer": trainer,
        "precision": precision,
        "checkpoint": checkpoint or usual_checkpoint(precision),
        "quantization": quantization,
    }
    if not as_json:
        click.echo(intro(setup, steps))
    with tempfile.TemporaryDirectory(prefix="patchkit-demo-") as folder:
        without, fixed = train_both(setup, steps, Path(folder))
    if as_json:
        show_json({"schema": 1, "without": without, "with": fixed})
    else:
        click.echo(summary(without, fixed, setup))
    if plot is not None:
        from .picture import draw_to

        draw_to(plot, without, fixed, setup, steps)
        click.echo(f"drawn: {plot}", err=as_json)
    sys.exit(0 if fixed["ok"] else 1)
