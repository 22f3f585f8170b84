"""`patchkit demo`: a real training of a tiny model, without patchkit and then with it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from ..environment import installed_version
from ..errors import PatchError

NEEDED = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")


class DemoError(PatchError):
    """The demo cannot be run here."""


def run(
    *,
    trainer: str,
    steps: int,
    precision: str,
    quantization: str,
    as_json: bool,
    plot: Path | None = None,
) -> int:
    """Train twice and print what came of it.

    Args:
        trainer: such as `sft`; see `patchkit.lab.trainers`.
        steps: optimizer steps of each training.
        precision: `fp16`, `bf16` or `fp32`.
        quantization: `4bit`, `8bit` or `none`.
        as_json: print one JSON object and nothing else.
        plot: where to draw a picture of it, an `.svg`, `.png` or `.pdf`.

    Returns:
        the exit status: 0 if the training with patchkit went through, 1 if not.

    Raises:
        DemoError: the training libraries are missing.
        UsageError: no picture can be written there.
        PictureError: a picture is asked for, and matplotlib is missing.
    """
    from .telling import announced, told
    from .training import both

    if plot is not None:
        from ..pictures import check_picture_file

        check_picture_file(plot, "--plot")
    missing = [name for name in NEEDED if installed_version(name) is None]
    if missing:
        raise DemoError(
            f"the demo trains for real and needs {', '.join(missing)}: "
            f"pip install {' '.join(missing)}"
        )
    what = {"trainer": trainer, "precision": precision, "quantization": quantization}
    if not as_json:
        click.echo(announced(what, steps))
    with tempfile.TemporaryDirectory(prefix="patchkit-demo-") as folder:
        without, mended = both(what, steps, Path(folder))
    if as_json:
        click.echo(json.dumps({"schema": 1, "without": without, "with": mended}, indent=2))
    else:
        click.echo(told(without, mended, what))
    if plot is not None:
        from .picture import draw_to

        draw_to(plot, without, mended, what, steps)
        click.echo(f"drawn: {plot}", err=as_json)
    return 0 if mended["ok"] else 1
