"""Run by a launcher: train one cell in this rank, and write its figures to a file.

Usage: rank_script.py STRATEGY MODELS FOLDER
"""

import json
import os
import sys
from pathlib import Path


def main(strategy: str, models: str, folder: str) -> None:
    from workbench.ranks import serving
    from workbench.ranks.trial import attempt

    serving.import_libraries()
    trial = attempt(strategy, "sft", "fp16-of-bf16/4bit", "lora", models, folder)
    Path(f"figures-{os.environ['RANK']}.json").write_text(json.dumps(trial))


if __name__ == "__main__":
    main(*sys.argv[1:])
