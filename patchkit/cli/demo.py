"""`patchkit demo`."""

from __future__ import annotations

import sys
from typing import Any

import click


@click.command()
@click.option(
    "--trainer",
    type=click.Choice(["sft", "dpo", "reward", "kto", "grpo", "rloo", "distillation"]),
    default="sft",
    show_default=True,
)
@click.option("--steps", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option(
    "--precision",
    type=click.Choice(["fp16", "bf16", "fp32"]),
    default="fp16",
    show_default=True,
)
@click.option(
    "--quantization",
    type=click.Choice(["4bit", "8bit", "none"]),
    default="4bit",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def demo(**options: Any) -> None:
    """Train a tiny model with TRL, without patchkit and then with it.

    Exit status: 0 if the training with patchkit went through, 1 if not.
    """
    from ..demo import run

    sys.exit(run(**options))
