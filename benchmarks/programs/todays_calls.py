"""Time calls that use today's names, bare or with the legacy layer; print the times as JSON.

python todays_calls.py off|on
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CALLS = {"arguments": 200, "configuration": 200, "load": 20, "tokens": 1000}


def main(layer: bool) -> dict[str, float]:
    """Return the CPU time of each call, in microseconds."""
    import torch
    from transformers import AutoModelForCausalLM, TrainingArguments
    from transformers.utils import logging
    from trl import SFTConfig

    from patchkit.lab.tiny import build_causal_lm, load_tokenizer

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if layer:
        import patchkit

        patchkit.apply(only=[], legacy=True)
    torch.set_num_threads(1)
    said = {"output_dir": "out", "report_to": "none", "use_cpu": True, "eval_strategy": "no"}
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = load_tokenizer(build_causal_lm(Path(folder), dtype="float32"))
        calls: dict[str, Callable[[], object]] = {
            "arguments": lambda: TrainingArguments(**said),
            "configuration": lambda: SFTConfig(**said, max_length=64, bf16=False),
            "load": lambda: AutoModelForCausalLM.from_pretrained(folder, dtype="float32"),
            "tokens": lambda: tokenizer("a few words"),
        }
        return {name: _microseconds(call, CALLS[name]) for name, call in calls.items()}


def _microseconds(call: Callable[[], object], number: int) -> float:
    call()
    before = time.process_time()
    for _ in range(number):
        call()
    return 1e6 * (time.process_time() - before) / number


if __name__ == "__main__":
    print("\n" + json.dumps(main(sys.argv[1] == "on")))
