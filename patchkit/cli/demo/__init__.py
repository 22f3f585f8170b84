"""Run `patchkit demo`: train a tiny model for real, without patchkit and then with it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from ...environment import installed_version
from ...errors import PatchError
from ...lab.train import Precision, usual_checkpoint

NEEDED = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")


class DemoError(PatchError):
    """The demo cannot be run here."""


def run(
    *,
    trainer: str,
    steps: int,
    precision: Precision,
    checkpoint: Precision | None,
    quantization: str,
    as_json: bool,
    plot: Path | None = None,
) -> int:
    """Train twice and print the outcomes.

    Args:
        trainer: such as `sft`; see `patchkit.lab.trainers`.
        steps: optimizer steps of each training.
        precision: `fp16`, `bf16` or `fp32`.
        checkpoint: the same for the base weights; the usual one for the precision if None.
        quantization: `4bit`, `8bit` or `none`.
        as_json: print one JSON object and nothing else.
        plot: file for a picture of it, an `.svg`, `.png` or `.pdf`.

    Returns:
        the exit status: 0 if the training with patchkit finished, 1 if not.

    Raises:
        DemoError: the training libraries are missing.
        UsageError: the picture cannot be written.
        PictureError: `plot` is given, and matplotlib is missing.
    """
    from .text import intro, summary
    from .training import train_both

    if plot is not None:
        from ..output_file import check_writable
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
        click.echo(json.dumps({"schema": 1, "without": without, "with": fixed}, indent=2))
    else:
        click.echo(summary(without, fixed, setup))
    if plot is not None:
        from .picture import draw_to

        draw_to(plot, without, fixed, setup, steps)
        click.echo(f"drawn: {plot}", err=as_json)
    return 0 if fixed["ok"] else 1
