"""Run one training in this process and print its outcome as a line: `python -m patchkit.lab`."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from patchkit.children import take_standard_output, write_answer
from patchkit.environment import installed_version
from patchkit.lab import cuda_fp16, tiny, train, trainers
from patchkit.lab.course import Course


def main(argv: Sequence[str] | None = None) -> int:
    """Train, and print a line of JSON for each step and then for the outcome.

    A failed training is an outcome, too.

    Returns:
        The exit status, 0.
    """
    options = _parser().parse_args(argv)
    # The libraries print their logs to standard output.
    with take_standard_output() as answers:

        def report_step(step: int, loss: float) -> None:
            write_answer(answers, {"step": step, "loss": loss})

        write_answer(answers, _outcome(options, Course(report_step)))
    return 0


def _outcome(options: argparse.Namespace, course: Course) -> dict[str, Any]:
    try:
        if options.patched:
            from patchkit.engine.choices import Choices
            from patchkit.engine.session import SESSION

            SESSION.apply(Choices(strict=True))
        tiny.go_offline()
        cuda_fp16.install()
        with contextlib.ExitStack() as stack:
            folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            result = train.train(
                options.trainer,
                precision=options.precision,
                checkpoint=options.checkpoint,
                quantization=options.quantization,
                steps=options.steps,
                folder=folder,
                seed=options.seed,
                lora=options.lora,
                args=options.args,
                course=course,
            )
    except Exception as error:
        traceback.print_exc()
        outcome = {
            "ok": False,
            "error_type": type(error).__name__,
            "error": str(error),
            "trainer": options.trainer,
            "trl": installed_version("trl"),
            "device": course.device,
            "losses": course.losses_in_order(),
            "dtypes": [dataclasses.asdict(kind) for kind in course.dtypes],
        }
    else:
        outcome = {"ok": True, **dataclasses.asdict(result)}
    outcome["steps_begun"] = course.begun
    if options.patched:
        from patchkit.engine.session import SESSION

        report = SESSION.report()
        outcome["report"] = report.to_dict()
        outcome["report_text"] = str(report)
    return outcome


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m patchkit.lab", description=__doc__)
    add = parser.add_argument
    add("--trainer", choices=trainers.TRAINERS, required=True)
    add("--precision", choices=get_args(train.Precision), default="fp16")
    add("--checkpoint", choices=get_args(train.Precision))
    add("--quantization", choices=get_args(tiny.Quantization), default="4bit")
    add("--steps", type=int, default=3)
    add("--seed", type=int, default=0)
    add("--folder", type=Path, help="folder for the model (default: a temporary folder)")
    add("--lora", type=json.loads, default={}, help="more LoraConfig arguments, as JSON")
    add("--args", type=json.loads, default={}, help="more training arguments, as JSON")
    add("--patched", action="store_true", help="call patchkit.apply(strict=True) first")
    return parser


if __name__ == "__main__":
    sys.exit(main())
